import type { AddOutcome, OpenPlantRepository, Plant, PlantId } from '@plant-store/core';

/** Spreads plants over several stores by their ids. The number of stores and their order must never change. */
export class ShardedPlantRepository implements OpenPlantRepository {
  readonly #stores: readonly OpenPlantRepository[];

  constructor(stores: readonly OpenPlantRepository[]) {
    this.#stores = stores;
  }

  async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    const indexes = plants.map(({ id }) => this.#indexOf(id));
    const batches = this.#stores.map((_, index) => plants.filter((_, plant) => indexes[plant] === index));
    const add = async (store: OpenPlantRepository, index: number) => [...(await store.add(batches[index] ?? []))];
    const outcomes = await Promise.all(this.#stores.map(add));
    return indexes.flatMap((index) => outcomes[index]?.shift() ?? []);
  }

  async find(id: PlantId): Promise<Plant | undefined> {
    return this.#stores[this.#indexOf(id)]?.find(id);
  }

  async read(from: PlantId, limit: number): Promise<readonly Plant[]> {
    const pages = await Promise.all(this.#stores.map((store) => store.read(from, limit)));
    const plants = pages.flat().sort((a, b) => (a.id < b.id ? -1 : 1));
    // A store may have more plants after the last one of its page.
    const ends = pages.flatMap((page) => page.at(-1) ?? []);
    return plants.filter(({ id }) => ends.every((end) => id <= end.id)).slice(0, limit);
  }

  ready = async (): Promise<void> => void (await Promise.all(this.#stores.map((store) => store.ready())));
  close = async (): Promise<void> => void (await Promise.all(this.#stores.map((store) => store.close())));

  #indexOf(id: PlantId): number {
    return Number(BigInt.asUintN(64, id) % BigInt(this.#stores.length));
  }
}
