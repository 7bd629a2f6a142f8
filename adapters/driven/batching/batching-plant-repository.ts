import { type AddOutcome, type Plant, type PlantRepository, StorageUnavailable } from '@plant-store/core';

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
 * Group commit around any repository: calls that arrive while a write is in flight share the next write and its sync.
 * It starts when that write ends or, up to `maxWrites`, when as many calls wait as the latest write has. Without a write
 * in flight, it starts after this turn of the event loop. A call resolves once its plants are durable.
 * When a write times out, pending calls fail, and so do new calls for some seconds. A write runs in the
 * `AsyncLocalStorage` context of one of its calls, so the decorated repository must not read a context.
 */
export class BatchingPlantRepository implements PlantRepository {
  readonly #repository: PlantRepository;
  readonly #maxWrites: number;
  readonly #maxBatchRows: number;
  readonly #timeoutMs: number;
  #pending: PendingCall[] = [];
  #writes = 0;
  /** Number of calls in the latest write. */
  #latestCalls = 0;
  #pausedUntil = 0;
  /** Calls of {@link drain}. */
  readonly #draining: (() => void)[] = [];

  constructor(
    repository: PlantRepository,
    { maxWrites = 1, maxBatchRows = 1000, timeoutMs = 10_000 }: BatchLimits = {},
  ) {
    this.#repository = repository;
    this.#maxWrites = maxWrites;
    this.#maxBatchRows = maxBatchRows;
    this.#timeoutMs = timeoutMs;
  }

  add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    return new Promise((resolve, reject) => {
      if (performance.now() < this.#pausedUntil) throw new StorageUnavailable('an earlier write timed out');
      // A copy, because the caller may change its array.
      this.#pending.push({ plants: [...plants], resolve, reject });
      // After the current turn of the event loop, so that all calls of that turn share the write.
      setImmediate(this.#startWrites);
    });
  }

  readAll(): AsyncIterable<readonly Plant[]> {
    return this.#repository.readAll();
  }

  /** Resolves when every call has settled. Call it before the storage closes, because calls would fail afterwards. */
  async drain(): Promise<void> {
    if (this.#pending.length === 0 && this.#writes === 0) return;
    await new Promise<void>((resolve) => this.#draining.push(resolve));
  }

  readonly #startWrites = (): void => {
    while (this.#mayStartWrite()) void this.#write(this.#takeBatch());
  };

  /** A write beside another one has to be as large, because small ones cost more than they gain if the disk is fast. */
  #mayStartWrite(): boolean {
    const minCalls = this.#writes === 0 ? 1 : this.#latestCalls;
    return this.#writes < this.#maxWrites && this.#pending.length >= minCalls;
  }

  /** Removes the calls of the next batch from the queue, at least one. */
  #takeBatch(): readonly PendingCall[] {
    let rows = 0;
    let calls = 0;
    for (const { plants } of this.#pending) {
      rows += plants.length;
      if (rows > this.#maxBatchRows && calls > 0) break;
      calls++;
    }
    return this.#pending.splice(0, calls);
  }

  async #write(batch: readonly PendingCall[]): Promise<void> {
    this.#writes++;
    this.#latestCalls = batch.length;
    const deadline = performance.now() + this.#timeoutMs;
    try {
      const outcomes = await this.#withinTime(batch);
      let start = 0;
      for (const { plants, resolve } of batch) {
        resolve(outcomes.slice(start, start + plants.length));
        start += plants.length;
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
      // Also if the storage has the same time limit and was first.
      if (performance.now() >= deadline) this.#pause(error);
    }
    // Runs before the callers continue, so that the storage is not idle meanwhile.
    this.#writes--;
    this.#startWrites();
    if (this.#writes === 0) for (const resolve of this.#draining.splice(0)) resolve();
  }

  /** Writes a batch. A write that times out may still end later. */
  #withinTime(batch: readonly PendingCall[]): Promise<readonly AddOutcome[]> {
    const write = this.#repository.add(batch.flatMap(({ plants }) => plants));
    return new Promise((resolve, reject) => {
      const timeOut = () => reject(new StorageUnavailable(`the storage did not respond within ${this.#timeoutMs} ms`));
      // A timer may fire up to a millisecond early.
      const timer = setTimeout(timeOut, this.#timeoutMs + 1);
      write.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }

  /** Rejects the pending calls, and new ones for some seconds. */
  #pause(error: unknown): void {
    this.#pausedUntil = performance.now() + PAUSE_MS;
    for (const { reject } of this.#pending.splice(0)) reject(error);
  }
}
