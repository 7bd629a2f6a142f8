import type { AddOutcome, Plant, PlantId, PlantRepository } from '@plant-store/core';

/** Returns given outcomes and plants, and records what it adds. */
export class StubRepository implements PlantRepository {
  readonly batches: (readonly Plant[])[] = [];
  readonly #outcomes: readonly AddOutcome[];
  readonly #plants: readonly Plant[];

  constructor(outcomes: readonly AddOutcome[], plants: readonly Plant[] = []) {
    this.#outcomes = outcomes;
    this.#plants = plants;
  }

  async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    this.batches.push(plants);
    return this.#outcomes;
  }

  async find(id: PlantId): Promise<Plant | undefined> {
    return this.#plants.find((plant) => plant.id === id);
  }

  async read(from: PlantId, limit: number): Promise<readonly Plant[]> {
    return this.#plants.filter(({ id }) => id >= from).slice(0, limit);
  }
}
