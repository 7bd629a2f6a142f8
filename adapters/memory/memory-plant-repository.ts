import { type AddOutcome, Plant, type PlantId, type PlantRepository, StorageUnavailable } from '../../core/index.js';

/** Stores plants in a Map for the lifetime of the process. For tests and experiments. */
export class MemoryPlantRepository implements PlantRepository {
  readonly #plants = new Map<PlantId, Plant>();
  #closed = false;

  async add(given: readonly Plant[]): Promise<AddOutcome[]> {
    this.#assertOpen();
    const plants = [...given];
    Plant.assertAll(plants);
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
