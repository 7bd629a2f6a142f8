import {
  type AddOutcome,
  type Plant,
  type PlantId,
  type PlantRepository,
  StorageUnavailable,
} from '../../core/index.js';

/** Keeps plants in a Map, as long as the process lives: for tests, and for trying things out. */
export class MemoryPlantRepository implements PlantRepository {
  readonly #plants = new Map<PlantId, Plant>();
  #closed = false;

  async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.#assertOpen();
    return plants.map((plant) => this.#addOne(plant));
  }

  #addOne(plant: Plant): AddOutcome {
    const holder = this.#plants.get(plant.id);
    if (holder !== undefined) return { kind: 'taken', holder };
    this.#plants.set(plant.id, plant);
    return { kind: 'added' };
  }

  async *readAll(): AsyncGenerator<readonly Plant[]> {
    this.#assertOpen();
    const plants = [...this.#plants.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    if (plants.length > 0) yield plants;
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
