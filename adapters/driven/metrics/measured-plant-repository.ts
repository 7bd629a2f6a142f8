import {
  type AddOutcome,
  isStorageUnavailable,
  type Plant,
  type PlantRepository,
  type StorageUnavailable,
} from '@plant-store/core';
import { DURATION_BUCKETS, type Metrics } from './metrics.js';

const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/** Counts and times the calls of `add`. */
export class MeasuredPlantRepository implements PlantRepository {
  readonly #repository: PlantRepository;
  readonly #countPlants;
  readonly #observeBatch;
  readonly #observeSeconds;
  readonly #countError;

  constructor(repository: PlantRepository, metrics: Metrics) {
    this.#repository = repository;
    this.#countPlants = metrics.counter('plants_total', 'Plants sent to the storage.', ['outcome']);
    this.#observeBatch = metrics.histogram('storage_batch_plants', 'Plants per batch.', BATCH_BUCKETS);
    const help = 'Duration of storage calls.';
    this.#observeSeconds = metrics.histogram('storage_operation_duration_seconds', help, DURATION_BUCKETS);
    this.#countError = metrics.counter('storage_errors_total', 'Failed storage calls.', ['code']);
  }

  async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    const start = performance.now();
    try {
      const outcomes = await this.#repository.add(plants);
      this.#observeBatch(outcomes.length);
      const counts = new Map<AddOutcome['kind'], number>();
      for (const { kind } of outcomes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      for (const [outcome, count] of counts) this.#countPlants({ outcome }, count);
      return outcomes;
    } catch (error) {
      this.#countError({ code: isStorageUnavailable(error) ? toCode(error) : 'DEFECT' });
      throw error;
    } finally {
      this.#observeSeconds((performance.now() - start) / 1000);
    }
  }

  readAll(): AsyncIterable<readonly Plant[]> {
    return this.#repository.readAll();
  }
}

/** Returns the code of the driver, if there is one. */
function toCode({ code, cause }: StorageUnavailable): string {
  return cause instanceof Object && 'code' in cause && typeof cause.code === 'string' ? cause.code : code;
}
