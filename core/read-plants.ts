import { MAX_PLANT_ID, MIN_PLANT_ID, type Plant, type PlantId } from './plant.js';
import type { PlantReader } from './ports/driven/plant-repository.js';
import type { ReadPlantsUseCase } from './ports/driving/read-plants-use-case.js';

/** Use case: read plants, ordered by id. Calls the reader for each batch, so that nothing stays open between batches. */
export class ReadPlants implements ReadPlantsUseCase {
  readonly #reader: PlantReader;

  constructor(reader: PlantReader) {
    this.#reader = reader;
  }

  async *execute(after?: PlantId, batchSize = 4000): AsyncGenerator<readonly Plant[], undefined> {
    if (after !== undefined && typeof after !== 'bigint') throw new TypeError('after must be a bigint');
    if (!Number.isInteger(batchSize) || batchSize < 1) throw new RangeError('batchSize must be a whole number above 0');
    let from = after === undefined || after < MIN_PLANT_ID ? MIN_PLANT_ID : after + 1n;
    while (from <= MAX_PLANT_ID) {
      const plants = await this.#reader.read(from, batchSize);
      const last = plants.at(-1);
      if (last === undefined) return;
      // The caller may modify the array that it gets.
      from = last.id + 1n;
      yield plants;
    }
  }
}
