import type { Plant, PlantId } from '../../plant.js';

/** Port: adds plants. An id belongs to one plant forever; plants are never changed or removed. */
export interface PlantWriter {
  /**
   * Adds plants independently of each other; of several with the same id, the first wins. Does not modify `plants`, and
   * does not validate them again: the use case created them with {@link Plant.from}.
   * Resolves once added and stored plants are durable, because a client stops retrying when it gets "already stored".
   * @returns One outcome per plant, in the order of `plants`.
   * @throws {StorageUnavailable} The storage is unavailable, full or closed.
   */
  add(plants: readonly Plant[]): Promise<readonly AddOutcome[]>;
}

/** Port: reads plants. Unlike plants that {@link PlantWriter.add} reports as stored, they may not be durable yet. */
export interface PlantReader {
  /** Finds the plant that has an id, an int64. @throws {StorageUnavailable} The storage is unavailable or closed. */
  find(id: PlantId): Promise<Plant | undefined>;

  /**
   * Reads the first plants with an id of at least `from`, an int64, ordered by id: at most `limit`, which is above 0, and
   * perhaps fewer, for example if they are large, but none only if there are no more. The caller may modify the array.
   * @throws {StorageUnavailable} The storage is unavailable or closed.
   */
  read(from: PlantId, limit: number): Promise<readonly Plant[]>;
}

/**
 * Port: stores plants. Calls may run concurrently. A call sees every plant that was added before it started.
 * `test/contract/` tests the details.
 */
export interface PlantRepository extends PlantWriter, PlantReader {}

/** A repository, and what the program that opened it calls. */
export interface OpenPlantRepository extends PlantRepository {
  /**
   * Checks that plants can be read and, after a failed `add`, that they can be added. Stores no plant.
   * @throws {StorageUnavailable} The storage is unavailable, full or closed.
   */
  ready(): Promise<void>;

  /** Waits for calls in flight, then closes. Idempotent. Later calls throw `StorageUnavailable`, even `add([])`. */
  close(): Promise<void>;
}

/** The result of adding one plant. */
export type AddOutcome =
  | { readonly kind: 'added' }
  /** The id is in use; `stored` is the plant that has it. It may be identical. */
  | { readonly kind: 'conflict'; readonly stored: Plant }
  /** The storage rejects this plant and would reject it again. `error` is for the log. */
  | { readonly kind: 'rejected'; readonly error: Error };
