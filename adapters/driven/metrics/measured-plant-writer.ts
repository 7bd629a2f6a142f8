import {
  type AddOutcome,
  isStorageUnavailable,
  type Plant,
  type PlantWriter,
  type StorageUnavailable,
} from '@plant-store/core';
import { Counter, Histogram, type Registry } from 'prom-client';

const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/** In seconds, up to ten. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts and times the calls of `add`. */
export class MeasuredPlantWriter implements PlantWriter {
  readonly #writer: PlantWriter;
  readonly #plants: Counter;
  readonly #batchPlants: Histogram;
  readonly #seconds: Histogram;
  readonly #errors: Counter;

  constructor(writer: PlantWriter, registry: Registry) {
    this.#writer = writer;
    const toOptions = (name: string, help: string) => ({ name: `plant_store_${name}`, help, registers: [registry] });
    const plants = toOptions('plants_total', 'Plants sent to the storage.');
    this.#plants = new Counter({ ...plants, labelNames: ['outcome'] });
    const batchPlants = toOptions('storage_batch_plants', 'Plants per batch.');
    this.#batchPlants = new Histogram({ ...batchPlants, buckets: BATCH_BUCKETS });
    const seconds = toOptions('storage_operation_duration_seconds', 'Duration of storage calls.');
    this.#seconds = new Histogram({ ...seconds, buckets: DURATION_BUCKETS });
    const errors = toOptions('storage_errors_total', 'Failed storage calls.');
    this.#errors = new Counter({ ...errors, labelNames: ['code'] });
  }

  async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    const start = performance.now();
    try {
      const outcomes = await this.#writer.add(plants);
      this.#batchPlants.observe(outcomes.length);
      const counts = new Map<AddOutcome['kind'], number>();
      for (const { kind } of outcomes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      for (const [outcome, count] of counts) this.#plants.inc({ outcome }, count);
      return outcomes;
    } catch (error) {
      this.#errors.inc({ code: isStorageUnavailable(error) ? toCode(error) : 'DEFECT' });
      throw error;
    } finally {
      this.#seconds.observe((performance.now() - start) / 1000);
    }
  }
}

/** Returns the code of the driver, if there is one. */
function toCode({ code, cause }: StorageUnavailable): string {
  return cause instanceof Object && 'code' in cause && typeof cause.code === 'string' ? cause.code : code;
}
