import type { PlantRefused } from './errors.js';
import { type NewPlant, Plant, type Violation } from './plant.js';
import type { AddOutcome, PlantRepository } from './plant-repository.js';

/** What became of one {@link NewPlant}. */
export type CreatePlantOutcome =
  | { readonly kind: 'created'; readonly plant: Plant }
  /** The very same plant is already stored: a retry has nothing left to do. */
  | { readonly kind: 'already-stored'; readonly plant: Plant }
  /** The id belongs to a plant that differs in name or tag. */
  | { readonly kind: 'id-taken' }
  | { readonly kind: 'invalid'; readonly violations: readonly Violation[] }
  /** The storage refuses this one plant. */
  | { readonly kind: 'refused'; readonly error: PlantRefused };

/** Use case: a client creates a plant under an id that it chose. */
export class CreatePlant {
  readonly #plants: PlantRepository;

  constructor(plants: PlantRepository) {
    this.#plants = plants;
  }

  /**
   * Creates one plant; a created plant is durable when this resolves.
   *
   * @throws {StorageUnavailable} whether the plant was stored may be open then; creating it again finds out
   */
  async execute(newPlant: NewPlant): Promise<CreatePlantOutcome> {
    const plant = Plant.from(newPlant);
    if (!(plant instanceof Plant)) return { kind: 'invalid', violations: plant };
    const outcomes = await this.#plants.add([plant]);
    return outcomeOf(plant, outcomes[0]);
  }

  /**
   * Creates many plants, each by itself: one that fails does not take its neighbours along.
   *
   * @returns one outcome per plant, in their order
   * @throws {StorageUnavailable} as {@link execute} does, for all of them
   */
  async executeAll(newPlants: readonly NewPlant[]): Promise<CreatePlantOutcome[]> {
    const candidates = newPlants.map(Plant.from);
    const plants = candidates.filter((candidate) => candidate instanceof Plant);
    const outcomes = (await this.#plants.add(plants)).values();
    return candidates.map((candidate) =>
      candidate instanceof Plant
        ? outcomeOf(candidate, outcomes.next().value)
        : { kind: 'invalid', violations: candidate },
    );
  }
}

function outcomeOf(plant: Plant, added: AddOutcome | undefined): CreatePlantOutcome {
  switch (added?.kind) {
    case 'added':
      return { kind: 'created', plant };
    case 'taken':
      return added.holder.equals(plant) ? { kind: 'already-stored', plant } : { kind: 'id-taken' };
    case 'refused':
      return added;
    case undefined:
      throw new TypeError('PlantRepository.add must return one outcome per plant');
  }
}
