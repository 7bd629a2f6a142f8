import { type NewPlant, Plant } from './plant.js';
import type { AddOutcome, PlantRepository } from './ports/driven/plant-repository.js';
import type { CreatePlantOutcome, CreatePlantUseCase } from './ports/driving/create-plant-use-case.js';
import type { CreatePlantsUseCase } from './ports/driving/create-plants-use-case.js';

/** Use case: create plants under ids that the client chooses. */
export class CreatePlant implements CreatePlantUseCase, CreatePlantsUseCase {
  readonly #repository: PlantRepository;

  constructor(repository: PlantRepository) {
    this.#repository = repository;
  }

  async execute(newPlant: NewPlant): Promise<CreatePlantOutcome> {
    return outcomeAt(await this.executeAll([newPlant]), 0);
  }

  async executeAll(newPlants: readonly NewPlant[]): Promise<readonly CreatePlantOutcome[]> {
    const results = newPlants.map(Plant.from);
    const plants: Plant[] = [];
    for (const result of results) if (result.kind === 'valid') plants.push(result.plant);
    const added = plants.length > 0 ? await this.#repository.add(plants) : [];
    const outcomes: CreatePlantOutcome[] = [];
    let next = 0;
    for (const result of results) {
      if (result.kind === 'invalid') outcomes.push(result);
      else outcomes.push(toOutcome(result.plant, outcomeAt(added, next++)));
    }
    return outcomes;
  }
}

/** Returns an outcome. A repository in JavaScript may return too few. */
function outcomeAt<Outcome>(outcomes: readonly Outcome[], index: number): Outcome {
  const outcome = outcomes[index];
  if (outcome === undefined) throw new TypeError('PlantRepository.add must return one outcome per plant');
  return outcome;
}

function toOutcome(plant: Plant, outcome: AddOutcome): CreatePlantOutcome {
  if (outcome.kind === 'added') return { kind: 'created', plant };
  if (outcome.kind === 'rejected') return outcome;
  return plant.equals(outcome.stored) ? { kind: 'already-stored', plant } : { kind: 'id-conflict' };
}
