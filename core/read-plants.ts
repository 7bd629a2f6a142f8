import type { Plant } from './plant.js';
import type { PlantRepository } from './plant-repository.js';

/** Use case: every plant of the store, ascending by id. */
export class ReadPlants {
  readonly #plants: PlantRepository;

  constructor(plants: PlantRepository) {
    this.#plants = plants;
  }

  /**
   * The plants in batches, for constant memory.
   *
   * @throws {StorageUnavailable} while iterating
   */
  execute(): AsyncIterable<readonly Plant[]> {
    return this.#plants.readAll();
  }
}
