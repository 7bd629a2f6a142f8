import type { PlantRefused } from './errors.js';
import { type NewPlant, Plant, type Violation } from './plant.js';
import type { PlantRepository } from './plant-repository.js';
/** What became of one {@link NewPlant}. */
export type CreatePlantOutcome = {
    readonly kind: 'created';
    readonly plant: Plant;
}
/** The very same plant is already stored: a retry has nothing left to do. */
 | {
    readonly kind: 'already-stored';
    readonly plant: Plant;
}
/** The id belongs to a plant that differs in name or tag. */
 | {
    readonly kind: 'id-taken';
} | {
    readonly kind: 'invalid';
    readonly violations: readonly Violation[];
}
/** The storage refuses this one plant. */
 | {
    readonly kind: 'refused';
    readonly error: PlantRefused;
};
/** Use case: a client creates a plant under an id that it chose. */
export declare class CreatePlant {
    #private;
    constructor(plants: PlantRepository);
    /**
     * Creates one plant; a created plant is durable when this resolves.
     *
     * @throws {StorageUnavailable} whether the plant was stored may be open then; creating it again finds out
     */
    execute(newPlant: NewPlant): Promise<CreatePlantOutcome>;
    /**
     * Creates many plants, each by itself: one that fails does not take its neighbours along.
     *
     * @returns one outcome per plant, in their order
     * @throws {StorageUnavailable} as {@link execute} does, for all of them
     */
    executeAll(newPlants: readonly NewPlant[]): Promise<CreatePlantOutcome[]>;
}
//# sourceMappingURL=create-plant.d.ts.map