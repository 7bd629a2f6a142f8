import { type AddOutcome, type Plant, type PlantId, type PlantRepository, StorageUnavailable } from '@plant-store/core';

/** Number of plants per batch of a reader. */
const BATCH_ROWS = 1000;

/** Stores plants in a Map for the lifetime of the process. For tests and experiments. */
export class MemoryPlantRepository implements PlantRepository {
  readonly #plants = new Map<PlantId, Plant>();
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

  async *readAll(): AsyncGenerator<readonly Plant[]> {
    this.#assertOpen();
    const plants = [...this.#plants.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    for (let start = 0; start < plants.length; start += BATCH_ROWS) yield plants.slice(start, start + BATCH_ROWS);
  }

  /** Throws `StorageUnavailable` after {@link close}. */
  async ready(): Promise<void> {
    this.#assertOpen();
  }

  /** Makes later calls throw `StorageUnavailable`. */
  async close(): Promise<void> {
    this.#closed = true;
  }

  #assertOpen(): void {
    if (this.#closed) throw new StorageUnavailable('the repository is closed');
  }
}
