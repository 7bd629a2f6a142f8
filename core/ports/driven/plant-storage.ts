import type { PlantRepository } from './plant-repository.js';

/** Port: a repository with what the program that opened it calls; use cases do not. */
export interface PlantStorage extends PlantRepository {
  /**
   * Checks that plants can be read and, after a failed `add`, that they can be added. Stores no plant.
   * @throws {StorageUnavailable} The storage is unavailable, full or closed.
   */
  ready(): Promise<void>;

  /** Waits for calls in flight, then closes. Idempotent. Later calls throw `StorageUnavailable`, even `add([])`. */
  close(): Promise<void>;
}
