import type { Plant } from './plant.js';
import type { PlantRepository } from './ports/plant-repository.js';

/** Use case: read every plant, ordered by id. */
export class ReadPlants {
  readonly #repository: PlantRepository;

  constructor(repository: PlantRepository) {
    this.#repository = repository;
  }

  /** Reads the plants in batches, in constant memory. Throws {@link StorageUnavailable} while iterating. */
  execute(): AsyncIterable<readonly Plant[]> {
    return this.#repository.readAll();
  }
}
