import { type AddOutcome, type Plant, type PlantRepository } from '../../core/index.js';
/** Keeps plants in a Map, as long as the process lives: for tests, and for trying things out. */
export declare class MemoryPlantRepository implements PlantRepository {
    #private;
    add(plants: readonly Plant[]): Promise<AddOutcome[]>;
    readAll(): AsyncGenerator<readonly Plant[]>;
    ready(): Promise<void>;
    close(): Promise<void>;
}
//# sourceMappingURL=memory-plant-repository.d.ts.map