import {
  type AddOutcome,
  type Plant,
  type PlantRepository,
  PlantRepositoryDecorator,
  StorageUnavailable,
} from '../../../core/index.js';

/** How long calls fail at once after a write has timed out, in milliseconds. */
const PAUSE_MS = 3000;

/** Limits of {@link BatchingPlantRepository}. */
export interface BatchLimits {
  /** Maximum number of concurrent writes. @default 1 */
  readonly maxWrites?: number | undefined;
  /** Maximum number of plants per batch. A single call may exceed it. @default 1000 */
  readonly maxBatchRows?: number | undefined;
  /** Maximum time for a write, in milliseconds. @default 10000 */
  readonly timeoutMs?: number | undefined;
}

/** A call of `add` that waits for its write. */
interface PendingCall {
  readonly plants: readonly Plant[];
  resolve(outcomes: readonly AddOutcome[]): void;
  reject(error: unknown): void;
}

/**
 * Group commit around any repository: calls that arrive while `maxWrites` writes are in flight share the next write and
 * its sync. Otherwise, a write starts after this turn of the event loop. A call resolves once its plants are durable.
 * When a write times out, pending calls fail, and so do new calls for some seconds.
 * Close the storage after every call has settled; otherwise pending calls fail.
 */
export class BatchingPlantRepository extends PlantRepositoryDecorator {
  readonly #maxWrites: number;
  readonly #maxBatchRows: number;
  readonly #timeoutMs: number;
  #pending: PendingCall[] = [];
  #writes = 0;
  #pausedUntil = 0;

  constructor(
    repository: PlantRepository,
    { maxWrites = 1, maxBatchRows = 1000, timeoutMs = 10_000 }: BatchLimits = {},
  ) {
    super(repository);
    this.#maxWrites = maxWrites;
    this.#maxBatchRows = maxBatchRows;
    this.#timeoutMs = timeoutMs;
  }

  override add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    return new Promise((resolve, reject) => {
      if (performance.now() < this.#pausedUntil) throw new StorageUnavailable('an earlier write timed out');
      // A copy, because the caller may change its array.
      this.#pending.push({ plants: [...plants], resolve, reject });
      // After the current turn of the event loop, so that all calls of that turn share the write.
      if (this.#writes < this.#maxWrites) setImmediate(() => this.#startWrites());
    });
  }

  #startWrites(): void {
    while (this.#pending.length > 0 && this.#writes < this.#maxWrites) void this.#write(this.#takeBatch());
  }

  /** Removes the calls of the next batch from the queue, at least one. */
  #takeBatch(): readonly PendingCall[] {
    let rows = 0;
    const end = this.#pending.findIndex(({ plants }) => {
      rows += plants.length;
      return rows > this.#maxBatchRows;
    });
    return this.#pending.splice(0, end === -1 ? this.#pending.length : Math.max(end, 1));
  }

  async #write(batch: readonly PendingCall[]): Promise<void> {
    this.#writes++;
    try {
      const outcomes = await this.#withinTime(batch);
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

  /** Writes a batch. A write that times out may still end later. */
  #withinTime(batch: readonly PendingCall[]): Promise<readonly AddOutcome[]> {
    const write = this.decorated.add(batch.flatMap(({ plants }) => plants));
    return new Promise((resolve, reject) => {
      const timeOut = () => {
        const error = new StorageUnavailable(`the storage did not respond within ${this.#timeoutMs} ms`);
        this.#pausedUntil = performance.now() + PAUSE_MS;
        for (const call of this.#pending.splice(0)) call.reject(error);
        reject(error);
      };
      const timer = setTimeout(timeOut, this.#timeoutMs);
      write.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }
}
