import { isSame, type Plant, problemOf } from './plant.js';
import type { CreatePlantOutcome, CreatePlantUseCase, PlantRepository } from './ports.js';

/** Creates a plant. Tells a client that repeats a create whether its own plant is stored. */
export class CreatePlant implements CreatePlantUseCase {
  readonly #repository: PlantRepository;

  constructor(repository: PlantRepository) {
    this.#repository = repository;
  }

  async execute(plant: Plant): Promise<CreatePlantOutcome> {
    const problem = problemOf(plant);
    if (problem !== undefined) return problem;
    const outcome = await this.#repository.add(plant);
    if (outcome.kind === 'added') return 'created';
    return isSame(plant, outcome.stored) ? 'already-stored' : 'id-conflict';
  }
}
