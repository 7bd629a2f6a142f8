import {
  type AddOutcome,
  type Plant,
  type PlantRepository,
  PlantRepositoryDecorator,
  StorageUnavailable,
} from '../../../core/index.js';

/** Limits on writes and on pending plants. */
export interface BatchLimits {
  /** Maximum number of concurrent writes. Default: 1. */
  readonly maxWrites?: number;
  /** Maximum number of plants per batch. Default: 1000. A single call may exceed it. */
  readonly maxBatchRows?: number;
  /** Maximum bytes of text per batch, 2 per UTF-16 code unit. Default: 2 MiB. A single call may exceed it. */
  readonly maxBatchBytes?: number;
  /** Maximum number of pending plants. Default: 10,000. A single call may exceed it if nothing is pending. */
  readonly maxPendingRows?: number;
  /** Maximum bytes of pending text. Default: 128 MiB. A single call may exceed it if nothing is pending. */
  readonly maxPendingBytes?: number;
}

const DEFAULT_LIMITS: Required<BatchLimits> = {
  maxWrites: 1,
  maxBatchRows: 1000,
  maxBatchBytes: 2 * 1024 ** 2,
  maxPendingRows: 10_000,
  maxPendingBytes: 128 * 1024 ** 2,
};

/** A call of `add` that waits for its write. */
interface PendingCall {
  readonly plants: readonly Plant[];
  readonly bytes: number;
  resolve(outcomes: readonly AddOutcome[]): void;
  reject(error: unknown): void;
}

/**
 * Group commit around any repository: calls that arrive while `maxWrites` writes are in flight share the next write and
 * its sync. Otherwise, a write starts after this turn of the event loop. A call resolves once its plants are durable.
 * Close the storage when every call has settled: pending calls fail afterwards.
 */
export class BatchingPlantRepository extends PlantRepositoryDecorator {
  readonly #limits: Required<BatchLimits>;
  readonly #pending: PendingCall[] = [];
  #pendingRows = 0;
  #pendingBytes = 0;
  #writes = 0;

  /** @throws {RangeError} A limit is less than 1. */
  constructor(repository: PlantRepository, limits: BatchLimits = {}) {
    super(repository);
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    for (const [name, limit] of Object.entries(this.#limits))
      if (!(limit >= 1)) throw new RangeError(`${name} must be at least 1`);
  }

  override async add(given: readonly Plant[]): Promise<readonly AddOutcome[]> {
    // A copy, because the caller may change its array.
    const plants = [...given];
    const bytes = textBytes(plants);
    const { maxPendingRows, maxPendingBytes } = this.#limits;
    const isFull = this.#pendingRows + plants.length > maxPendingRows || this.#pendingBytes + bytes > maxPendingBytes;
    if (isFull && this.#pending.length > 0) throw new StorageUnavailable('too many pending plants');
    return new Promise((resolve, reject) => {
      this.#pending.push({ plants, bytes, resolve, reject });
      this.#pendingRows += plants.length;
      this.#pendingBytes += bytes;
      // After the current turn of the event loop, so that all calls of that turn share the write.
      if (this.#writes < this.#limits.maxWrites) setImmediate(() => this.#startWrites());
    });
  }

  #startWrites(): void {
    while (this.#pending.length > 0 && this.#writes < this.#limits.maxWrites) void this.#write(this.#takeBatch());
  }

  async #write(batch: readonly PendingCall[]): Promise<void> {
    this.#writes++;
    try {
      const outcomes = await this.decorated.add(batch.flatMap(({ plants }) => plants));
      let start = 0;
      for (const { plants, resolve } of batch) {
        resolve(outcomes.slice(start, start + plants.length));
        start += plants.length;
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    // Runs before the callers continue, so that the storage is not idle meanwhile.
    this.#writes--;
    this.#startWrites();
  }

  /** Removes the calls of the next batch from the queue, at least one. */
  #takeBatch(): readonly PendingCall[] {
    const { maxBatchRows, maxBatchBytes } = this.#limits;
    let rows = 0;
    let bytes = 0;
    const end = this.#pending.findIndex((call) => {
      rows += call.plants.length;
      bytes += call.bytes;
      return rows > maxBatchRows || bytes > maxBatchBytes;
    });
    const batch = this.#pending.splice(0, end === -1 ? this.#pending.length : Math.max(end, 1));
    for (const call of batch) {
      this.#pendingRows -= call.plants.length;
      this.#pendingBytes -= call.bytes;
    }
    return batch;
  }
}

function textBytes(plants: readonly Plant[]): number {
  return plants.reduce((bytes, { textLength }) => bytes + 2 * textLength, 0);
}
