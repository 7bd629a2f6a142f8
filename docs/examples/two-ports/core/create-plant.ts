import { isSame, type Plant, problemOf } from './plant.js';
import type { CreateOutcome, CreatePlant, PlantRepository } from './ports.js';

/** Creates a plant. Tells a client that repeats a create whether its own plant is stored. */
export class CreatePlantUseCase implements CreatePlant {
  readonly #repository: PlantRepository;

  constructor(repository: PlantRepository) {
    this.#repository = repository;
  }

  async execute(plant: Plant): Promise<CreateOutcome> {
    const problem = problemOf(plant);
    if (problem !== undefined) return problem;
    const result = await this.#repository.add(plant);
    if (result === 'added') return 'created';
    return isSame(plant, result) ? 'already-stored' : 'id-conflict';
  }
}
