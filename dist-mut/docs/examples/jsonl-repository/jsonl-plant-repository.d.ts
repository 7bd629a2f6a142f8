import { type AddOutcome, Plant, type PlantRepository } from '../../../core/index.js';
/** Keeps plants in a file with one JSON array, `["<id>", "<name>", "<tag>" or null]`, a line, and all of them in memory. */
export declare class JsonlPlantRepository implements PlantRepository {
    #private;
    private constructor();
    /**
     * Opens a file, or makes a new one.
     *
     * @throws {StorageUnavailable} when another process has it open, or when it cannot be read
     */
    static open(givenPath: string): Promise<JsonlPlantRepository>;
    add(plants: readonly Plant[]): Promise<readonly AddOutcome[]>;
    readAll(): AsyncGenerator<readonly Plant[]>;
    ready(): Promise<void>;
    close(): Promise<void>;
}
//# sourceMappingURL=jsonl-plant-repository.d.ts.map