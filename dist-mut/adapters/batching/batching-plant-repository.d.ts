import { type AddOutcome, type Plant, type PlantRepository } from '../../core/index.js';
/** What may be written, and what may wait. */
export interface BatchLimits {
    /** The most batches that are written side by side; 1 by default. */
    readonly writesMax?: number;
    /** The most plants of one batch; 1000 by default. A single call may exceed it. */
    readonly batchRowsMax?: number;
    /** The most bytes of text of one batch, 2 for each UTF-16 code unit; 2 MiB by default. A single call may exceed it. */
    readonly batchBytesMax?: number;
    /** The most plants that wait for their write; 10 000 by default. */
    readonly waitingRowsMax?: number;
    /** The most bytes of text that wait for their write; 128 MiB by default. */
    readonly waitingBytesMax?: number;
}
/**
 * Group commit around any repository: what arrives while a write is under way goes together into the next one, so that
 * many plants share the sync that makes them durable. Where nothing is under way, a write begins at once. Each caller
 * learns of its own plants alone, and only when the write that holds them is durable.
 */
export declare class BatchingPlantRepository implements PlantRepository {
    #private;
    /** @param plants belongs to this repository from now on: closing the one closes the other */
    constructor(plants: PlantRepository, limits?: BatchLimits);
    add(plants: readonly Plant[]): Promise<readonly AddOutcome[]>;
    readAll(): AsyncIterable<readonly Plant[]>;
    ready(): Promise<void>;
    close(): Promise<void>;
}
//# sourceMappingURL=batching-plant-repository.d.ts.map