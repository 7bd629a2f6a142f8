import { MAX_PLANT_ID, MIN_PLANT_ID, type Plant, type PlantId } from './plant.js';
import type { PlantReader } from './ports/driven/plant-repository.js';
import type { FindPlantUseCase } from './ports/driving/find-plant-use-case.js';

/** Use case: find the plant that has an id. */
export class FindPlant implements FindPlantUseCase {
  readonly #reader: PlantReader;

  constructor(reader: PlantReader) {
    this.#reader = reader;
  }

  async execute(id: PlantId): Promise<Plant | undefined> {
    if (typeof id !== 'bigint') throw new TypeError('id must be a bigint');
    // Engines disagree about other ids: SQLite would find the plant with the nearest int64.
    return MIN_PLANT_ID <= id && id <= MAX_PLANT_ID ? this.#reader.find(id) : undefined;
  }
}
