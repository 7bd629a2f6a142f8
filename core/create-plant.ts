import { type NewPlant, Plant } from './plant.js';
import type { AddOutcome, PlantRepository } from './ports/driven/plant-repository.js';
import type {
  CreatePlantOutcome,
  CreatePlantsUseCase,
  CreatePlantUseCase,
} from './ports/driving/create-plant-use-case.js';

/** Use case: create plants under ids that the client chooses. */
export class CreatePlant implements CreatePlantUseCase, CreatePlantsUseCase {
  readonly #repository: PlantRepository;

  constructor(repository: PlantRepository) {
    this.#repository = repository;
  }

  async execute(newPlant: NewPlant): Promise<CreatePlantOutcome> {
    const result = Plant.from(newPlant);
    if (result.kind === 'invalid') return result;
    const [outcome] = await this.#repository.add([result.plant]);
    return toOutcome(result.plant, outcome);
  }

  async executeAll(newPlants: readonly NewPlant[]): Promise<CreatePlantOutcome[]> {
    const results = newPlants.map(Plant.from);
    const plants = results.flatMap((result) => (result.kind === 'valid' ? [result.plant] : []));
    // Its outcomes are in the order of the valid plants.
    const outcomes = (await this.#repository.add(plants)).values();
    return results.map((result) => (result.kind === 'valid' ? toOutcome(result.plant, outcomes.next().value) : result));
  }
}

function toOutcome(plant: Plant, outcome: AddOutcome | undefined): CreatePlantOutcome {
  switch (outcome?.kind) {
    case 'added':
      return { kind: 'created', plant };
    case 'taken':
      return plant.equals(outcome.holder) ? { kind: 'already-stored', plant } : { kind: 'id-taken' };
    case 'rejected':
      return outcome;
    default:
      throw new TypeError('PlantRepository.add must return one outcome per plant');
  }
}
