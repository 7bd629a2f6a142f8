import type { Plant } from './plant.js';
import type { AddOutcome, PlantRepository } from './ports/driven/plant-repository.js';

/** Passes each call to another repository. A decorator extends it, and overrides only the calls that it changes. */
export class PlantRepositoryDecorator implements PlantRepository {
  protected readonly decorated: PlantRepository;

  constructor(decorated: PlantRepository) {
    this.decorated = decorated;
  }

  add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    return this.decorated.add(plants);
  }

  readAll(): AsyncIterable<readonly Plant[]> {
    return this.decorated.readAll();
  }
}
