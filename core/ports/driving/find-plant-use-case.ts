import type { Plant, PlantId } from '../../plant.js';

/** Driving port: finds one plant. */
export interface FindPlantUseCase {
  /**
   * Finds the plant that has an id. It may not be durable yet.
   * @returns `undefined` if no plant has the id, or it is outside int64.
   * @throws {StorageUnavailable} The storage is unavailable or closed. @throws {TypeError} `id` is no bigint.
   */
  execute(id: PlantId): Promise<Plant | undefined>;
}
