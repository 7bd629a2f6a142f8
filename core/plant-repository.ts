import type { PlantRefused } from './errors.js';
import type { Plant } from './plant.js';

/**
 * Port: where plants are kept. An id names one plant for ever: nothing is ever changed or removed. All calls may be made
 * side by side, and what was answered is seen by every later call.
 *
 * What an implementation promises beyond these types stands as test cases in `test/contract/plant-repository.ts`.
 */
export interface PlantRepository {
  /**
   * Adds plants, each by itself: one that is taken or refused does not take its neighbours along. Of several plants
   * with one id the first in the batch counts as the earlier one. Resolves once every added plant is durable. The batch
   * is left as it was given.
   *
   * @returns one outcome per plant, in the order of `plants`
   * @throws {StorageUnavailable} when the storage does not answer, is full or is closed
   */
  add(plants: readonly Plant[]): Promise<readonly AddOutcome[]>;

  /**
   * Every plant, ascending by id, in batches, so that a store of any size is read in constant memory. Plants that are
   * added meanwhile may or may not be among them. It is complete or throws; it never ends early.
   *
   * @throws {StorageUnavailable} while iterating
   */
  readAll(): AsyncIterable<readonly Plant[]>;

  /**
   * Resolves when the storage can be read.
   *
   * @throws {StorageUnavailable} when it does not
   */
  ready(): Promise<void>;

  /** Finishes what is under way and lets go of the storage. Later calls throw `StorageUnavailable`, also for no plants; closing again does nothing. */
  close(): Promise<void>;
}

/** What became of one plant. */
export type AddOutcome =
  | { readonly kind: 'added' }
  /** `holder` is the plant that already holds the id; it may be the very same plant. */
  | { readonly kind: 'taken'; readonly holder: Plant }
  | { readonly kind: 'refused'; readonly error: PlantRefused };
