import type { Plant } from '../../plant.js';

/**
 * Port: stores plants. An id belongs to one plant forever; plants are never changed or removed. Calls may run
 * concurrently. A call sees every plant that was added before it started. `test/contract/` tests the details.
 */
export interface PlantRepository {
  /**
   * Adds plants independently of each other; of several with the same id, the first wins. Does not modify `plants`, and
   * does not validate them again: the use case created them with {@link Plant.from}.
   * Resolves once added and stored plants are durable, because a client stops retrying when it gets "already stored".
   * @returns One outcome per plant, in the order of `plants`.
   * @throws {StorageUnavailable} The storage is unavailable, full or closed.
   */
  add(plants: readonly Plant[]): Promise<readonly AddOutcome[]>;

  /**
   * Reads every plant in batches of up to 10,000, ordered by id, in constant memory. No batch is empty. May include
   * plants added meanwhile. Ends only after the last plant; otherwise throws.
   * @throws {StorageUnavailable} The storage is unavailable, full or closed. Thrown while iterating.
   */
  readAll(): AsyncIterable<readonly Plant[]>;
}

/** The result of adding one plant. */
export type AddOutcome =
  | { readonly kind: 'added' }
  /** The id is in use; `stored` is the plant that has it. It may be identical. */
  | { readonly kind: 'conflict'; readonly stored: Plant }
  /** The storage rejects this plant and would reject it again. `error` is for the log. */
  | { readonly kind: 'rejected'; readonly error: Error };
