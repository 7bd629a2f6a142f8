import { type NewPlant, Plant } from './plant.js';
import type { AddOutcome, PlantWriter } from './ports/driven/plant-repository.js';
import type { CreatePlantOutcome, CreatePlantUseCase } from './ports/driving/create-plant-use-case.js';

/** Use case: create a plant under an id that the client chooses. */
export class CreatePlant implements CreatePlantUseCase {
  readonly #writer: PlantWriter;

  constructor(writer: PlantWriter) {
    this.#writer = writer;
  }

  async execute(newPlant: NewPlant): Promise<CreatePlantOutcome> {
    const result = Plant.from(newPlant);
    if (result.kind === 'invalid') return result;
    const [outcome] = await this.#writer.add([result.plant]);
    return toCreatePlantOutcome(result.plant, outcome);
  }
}

/** Converts an outcome of the writer, if there is one, to that of the use case. */
export function toCreatePlantOutcome(plant: Plant, outcome: AddOutcome | undefined): CreatePlantOutcome {
  if (outcome === undefined) throw new TypeError('PlantWriter.add must return one outcome per plant');
  if (outcome.kind === 'added') return { kind: 'created', plant };
  if (outcome.kind === 'rejected') return outcome;
  return plant.equals(outcome.stored) ? { kind: 'already-stored', plant } : { kind: 'id-conflict' };
}
