import type { AddOutcome, Plant, PlantWriter, StorageUnavailable } from '@plant-store/core';
import { isStorageUnavailable } from '@plant-store/core';
import { Counter, Histogram, type Registry } from 'prom-client';

/** Buckets for durations in seconds, up to the default `STORAGE_TIMEOUT`. */
export const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/** Counts and times the calls of `add`. */
export class MeasuredPlantWriter implements PlantWriter {
  readonly #writer: PlantWriter;
  readonly #metrics;

  constructor(writer: PlantWriter, registry: Registry) {
    this.#writer = writer;
    const toOptions = (name: string, help: string, labelNames: readonly string[] = []) => {
      return { name: `plant_store_${name}`, help, labelNames, registers: [registry] };
    };
    const seconds = toOptions('storage_operation_duration_seconds', 'Duration of storage calls.');
    this.#metrics = {
      plants: new Counter(toOptions('plants_total', 'Outcomes of plants.', ['outcome'])),
      batch: new Histogram({ ...toOptions('storage_batch_plants', 'Plants per batch.'), buckets: BATCH_BUCKETS }),
      seconds: new Histogram({ ...seconds, buckets: DURATION_BUCKETS }),
      errors: new Counter(toOptions('storage_errors_total', 'Failed storage calls.', ['code'])),
    };
  }

  async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    const start = performance.now();
    try {
      const outcomes = await this.#writer.add(plants);
      this.#metrics.batch.observe(outcomes.length);
      const counts = new Map<AddOutcome['kind'], number>();
      for (const { kind } of outcomes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      for (const [outcome, count] of counts) this.#metrics.plants.inc({ outcome }, count);
      return outcomes;
    } catch (error) {
      this.#metrics.errors.inc({ code: isStorageUnavailable(error) ? toCode(error) : 'DEFECT' });
      throw error;
    } finally {
      this.#metrics.seconds.observe((performance.now() - start) / 1000);
    }
  }
}

/** Returns the code of the driver, if there is one. */
function toCode({ code, cause }: StorageUnavailable): string {
  return cause instanceof Object && 'code' in cause && typeof cause.code === 'string' ? cause.code : code;
}
