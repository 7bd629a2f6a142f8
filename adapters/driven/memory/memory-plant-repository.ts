import type { AddOutcome, OpenPlantRepository, Plant, PlantId } from '@plant-store/core';
import { StorageUnavailable } from '@plant-store/core';

/** Stores plants for the lifetime of the process. For tests and experiments. */
export class MemoryPlantRepository implements OpenPlantRepository {
  readonly #plants = new Map<PlantId, Plant>();
  /** The same plants, ordered by id if `#isOrdered`. */
  readonly #ordered: Plant[] = [];
  #isOrdered = true;
  #closed = false;

  async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.#assertOpen();
    return plants.map((plant) => {
      const stored = this.#plants.get(plant.id);
      if (stored !== undefined) return { kind: 'conflict', stored };
      this.#plants.set(plant.id, plant);
      this.#ordered.push(plant);
      this.#isOrdered = false;
      return { kind: 'added' };
    });
  }

  async find(id: PlantId): Promise<Plant | undefined> {
    this.#assertOpen();
    return this.#plants.get(id);
  }

  async read(from: PlantId, limit: number): Promise<readonly Plant[]> {
    this.#assertOpen();
    // Linear if few plants were added since the last time.
    if (!this.#isOrdered) this.#ordered.sort((a, b) => (a.id < b.id ? -1 : 1));
    this.#isOrdered = true;
    let [start, end] = [0, this.#ordered.length];
    while (start < end) {
      const middle = Math.floor((start + end) / 2);
      const { id = from } = this.#ordered[middle] ?? {};
      if (id < from) start = middle + 1;
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
