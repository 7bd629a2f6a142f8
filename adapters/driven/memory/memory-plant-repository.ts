import type { AddOutcome, OpenPlantRepository, Plant, PlantId } from '@plant-store/core';
import { StorageUnavailable } from '@plant-store/core';

/** Stores plants for the lifetime of the process. For tests and experiments: a `read` after an `add` orders all plants. */
export class MemoryPlantRepository implements OpenPlantRepository {
  readonly #plants = new Map<PlantId, Plant>();
  /** Those that were stored at the last reading, ordered by id. */
  #ordered: readonly Plant[] = [];
  #closed = false;

  async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.#assertOpen();
    return plants.map((plant) => {
      const stored = this.#plants.get(plant.id);
      if (stored !== undefined) return { kind: 'conflict', stored };
      this.#plants.set(plant.id, plant);
      return { kind: 'added' };
    });
  }

  async find(id: PlantId): Promise<Plant | undefined> {
    this.#assertOpen();
    return this.#plants.get(id);
  }

  async read(from: PlantId, limit: number): Promise<readonly Plant[]> {
    this.#assertOpen();
    if (this.#ordered.length < this.#plants.size) {
      const added = [...this.#plants.values()].slice(this.#ordered.length);
      // Linear if few were added, because the others are in order.
      this.#ordered = [...this.#ordered, ...added].sort((a, b) => (a.id < b.id ? -1 : 1));
    }
    let [start, end] = [0, this.#ordered.length];
    while (start < end) {
      const middle = Math.floor((start + end) / 2);
      const plant = this.#ordered[middle];
      if (plant && plant.id < from) start = middle + 1;
      else end = middle;
    }
    return this.#ordered.slice(start, start + limit);
  }

  async ready(): Promise<void> {
    this.#assertOpen();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #assertOpen(): void {
    if (this.#closed) throw new StorageUnavailable('the repository is closed');
  }
}
