import type { Plant } from '../../plant.js';

/** Driving port: reads every plant, ordered by id. */
export interface ReadPlantsUseCase {
  /**
   * Reads the plants in batches, in constant memory.
   * @throws {StorageUnavailable} The storage is unavailable, full or closed. Thrown while iterating.
   */
  execute(): AsyncIterable<readonly Plant[]>;
}
