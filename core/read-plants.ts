import type { Plant } from './plant.js';
import type { PlantRepository } from './ports/driven/plant-repository.js';
import type { ReadPlantsUseCase } from './ports/driving/read-plants-use-case.js';

/** Use case: read every plant, ordered by id. */
export class ReadPlants implements ReadPlantsUseCase {
  readonly #repository: PlantRepository;

  constructor(repository: PlantRepository) {
    this.#repository = repository;
  }

  execute(): AsyncIterable<readonly Plant[]> {
    return this.#repository.readAll();
  }
}
