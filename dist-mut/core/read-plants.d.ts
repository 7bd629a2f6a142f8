import type { Plant } from './plant.js';
import type { PlantRepository } from './plant-repository.js';
/** Use case: every plant of the store, ascending by id. */
export declare class ReadPlants {
    #private;
    constructor(plants: PlantRepository);
    /**
     * The plants in batches, for constant memory.
     *
     * @throws {StorageUnavailable} while iterating
     */
    execute(): AsyncIterable<readonly Plant[]>;
}
//# sourceMappingURL=read-plants.d.ts.map