import type { PlantRejected } from './errors.js';
import { type NewPlant, Plant, type Violation } from './plant.js';
import type { AddOutcome, PlantRepository } from './ports/plant-repository.js';

/** The result of creating one plant. */
export type CreatePlantOutcome =
  | { readonly kind: 'created'; readonly plant: Plant }
  /** An identical plant is already stored, for example by an earlier attempt. */
  | { readonly kind: 'already-stored'; readonly plant: Plant }
  /** The id belongs to a plant with a different name or tag. */
  | { readonly kind: 'id-taken' }
  | { readonly kind: 'invalid'; readonly violations: readonly Violation[] }
  /** The storage rejects this plant and would reject it again. */
  | { readonly kind: 'rejected'; readonly error: PlantRejected };

/** Use case: create plants under ids that the client chooses. */
export class CreatePlant {
  readonly #repository: PlantRepository;

  constructor(repository: PlantRepository) {
    this.#repository = repository;
  }

  /**
   * Creates one plant. Resolves once the plant is durable.
   * @throws {StorageUnavailable} The plant may have been stored; retry to find out.
   */
  async execute(newPlant: NewPlant): Promise<CreatePlantOutcome> {
    const result = Plant.from(newPlant);
    if (result.kind === 'invalid') return result;
    const outcomes = await this.#repository.add([result.plant]);
    return toOutcome(result.plant, outcomes[0]);
  }

  /**
   * Creates many plants. The outcome of one plant does not affect the others.
   * @returns One outcome per plant, in the order of `newPlants`.
   * @throws {StorageUnavailable} Any of the plants may have been stored; retry to find out.
   * @throws {TypeError} `newPlants` is not an array.
   */
  async executeAll(newPlants: readonly NewPlant[]): Promise<CreatePlantOutcome[]> {
    if (!Array.isArray(newPlants)) throw new TypeError('newPlants must be an array');
    // Array.from, because map skips the holes of a sparse array.
    const results = Array.from(newPlants, Plant.from);
    const plants = results.flatMap((result) => (result.kind === 'valid' ? [result.plant] : []));
    const outcomes = zip(plants, await this.#repository.add(plants));
    return results.map((result) =>
      result.kind === 'valid' ? toOutcome(result.plant, outcomes.get(result.plant)) : result,
    );
  }
}

/** Maps each plant to its outcome. */
function zip(plants: readonly Plant[], outcomes: readonly AddOutcome[]): Map<Plant, AddOutcome | undefined> {
  return new Map(plants.map((plant, index) => [plant, outcomes[index]]));
}

function toOutcome(plant: Plant, outcome: AddOutcome | undefined): CreatePlantOutcome {
  switch (outcome?.kind) {
    case 'added':
      return { kind: 'created', plant };
    case 'taken':
      return outcome.holder.equals(plant) ? { kind: 'already-stored', plant } : { kind: 'id-taken' };
    case 'rejected':
      return outcome;
    default:
      throw new TypeError('PlantRepository.add must return one outcome per plant');
  }
}
