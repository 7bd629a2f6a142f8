import type { NewPlant } from '../../plant.js';
import type { CreatePlantOutcome } from './create-plant-use-case.js';

/** Driving port: creates many plants. A decorator may decline some. */
export interface CreatePlantsUseCase<Declined = never> {
  /**
   * Creates plants independently of each other. Resolves once they are durable.
   * @returns One outcome per plant, in the order of `newPlants`.
   * @throws {StorageUnavailable} Any of the plants may have been stored; retry to find out.
   */
  execute(newPlants: readonly NewPlant[]): Promise<readonly (CreatePlantOutcome | Declined)[]>;
}
