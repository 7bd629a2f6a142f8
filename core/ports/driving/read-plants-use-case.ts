import type { Plant, PlantId } from '../../plant.js';

/** Driving port: reads plants, ordered by id. */
export interface ReadPlantsUseCase {
  /**
   * Reads the plants in batches, in constant memory. They may not be durable yet. Includes every plant that was added
   * before the first batch, and perhaps later ones; does not end while they are added as fast. No batch is empty.
   * @param after Reads only plants with greater ids. @default reads every plant
   * @param batchSize Maximum number of plants per batch; large plants come in smaller batches. @default 4000
   * @throws {StorageUnavailable} The storage is unavailable or closed. Thrown while iterating, as for invalid arguments.
   */
  execute(after?: PlantId, batchSize?: number): AsyncGenerator<readonly Plant[], undefined>;
}
