import { type AddOutcome, type Plant, type PlantWriter, StorageUnavailable } from '@plant-store/core';

/** How long calls fail at once after `maxWrites` time-outs in a row, in milliseconds. */
const PAUSE_MS = 3000;
/** Idle time of the event loop during a write, in milliseconds, from which on the next write waits for callers. */
const MIN_IDLE_MS = 1;
/** Maximum time of that wait: as a share of the idle time, and in milliseconds. */
const [GATHER_SHARE, MAX_GATHER_MS] = [0.1, 10];

/** Limits of {@link BatchingPlantWriter}. */
export interface BatchLimits {
  /** Maximum number of concurrent writes. @default 1 */
  readonly maxWrites?: number | undefined;
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
 * Group commit around any writer: calls that arrive while `maxWrites` writes are in flight share the next write and
 * its sync. Below that limit, a write starts after this turn of the event loop; on a slow disk, when as many calls as
 * during the last write are pending, or a tenth of its time later. A call resolves once its plants are durable. After
 * `maxWrites` time-outs in a row, pending calls fail, and new ones do for some seconds. A write runs in the context of
 * one of its calls (`AsyncLocalStorage`), so the decorated writer must not read it.
 */
export class BatchingPlantWriter implements PlantWriter {
  readonly #writer: PlantWriter;
  readonly #maxWrites: number;
  readonly #timeoutMs: number;
  readonly #pending: PendingCall[] = [];
  /** The writes in flight, in order of their start. */
  readonly #writes = new Set<readonly PendingCall[]>();
  /** Number of time-outs in a row. */
  #timeouts = 0;
  /** Whether the last write to end has timed out beside another one. If so, the next one starts only when that one ends. */
  #isStalled = false;
  #pausedUntil = 0;
  /** Number of pending calls for which the next write waits, until the timer fires. */
  #awaitedCalls = 0;
  #gathering: NodeJS.Timeout | undefined;
  readonly #draining: (() => void)[] = [];

  constructor(writer: PlantWriter, { maxWrites = 1, timeoutMs = 10_000 }: BatchLimits = {}) {
    this.#writer = writer;
    this.#maxWrites = maxWrites;
    this.#timeoutMs = timeoutMs;
  }

  add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    return new Promise((resolve, reject) => {
      if (performance.now() < this.#pausedUntil) throw new StorageUnavailable('an earlier write timed out');
      // A copy, because the caller may change its array.
      const count = this.#pending.push({ plants: [...plants], resolve, reject });
      // All calls of this turn of the event loop share a write. The end of a write starts the next one.
      if (count === 1 || count === this.#awaitedCalls) setImmediate(this.#startWrites);
    });
  }

  /** Resolves when every call has settled. Call it before the storage closes, because calls would fail afterwards. */
  async drain(): Promise<void> {
    if (this.#pending.length + this.#writes.size === 0) return;
    await new Promise<void>((resolve) => this.#draining.push(resolve));
  }

  readonly #startWrites = (hasGathered = this.#pending.length >= this.#awaitedCalls): void => {
    if (!hasGathered) return;
    this.#awaitedCalls = 0;
    clearTimeout(this.#gathering);
    while (!this.#isStalled && this.#writes.size < this.#maxWrites && this.#pending.length > 0)
      void this.#write(this.#pending.splice(0));
  };

  async #write(batch: readonly PendingCall[]): Promise<void> {
    this.#writes.add(batch);
    const start = performance.now();
    const { idleTime } = performance.nodeTiming;
    let isTimeout = false;
    try {
      const all = batch.flatMap(({ plants }) => plants);
      const outcomes = await this.#withinTime(this.#writer.add(all));
      // With a missing outcome, a plant would get that of another one.
      if (outcomes.length !== all.length) throw new TypeError('PlantWriter.add must return one outcome per plant');
      let next = 0;
      for (const { plants, resolve } of batch) {
        resolve(outcomes.slice(next, next + plants.length));
        next += plants.length;
      }
      const [oldest] = this.#writes;
      const callers = batch.length + this.#pending.length;
      const idleMs = performance.nodeTiming.idleTime - idleTime;
      // Callers of two writes would take turns. That is better only while the program is busy, or the next one may hang.
      if (batch === oldest && this.#timeouts === 0 && callers > 1 && idleMs >= MIN_IDLE_MS) {
        this.#awaitedCalls = callers;
        clearTimeout(this.#gathering);
        this.#gathering = setTimeout(this.#startWrites, Math.min(idleMs * GATHER_SHARE, MAX_GATHER_MS), true);
      }
    } catch (error) {
      // The storage may have the same time limit, and be first.
      isTimeout = performance.now() >= start + this.#timeoutMs;
      const mustPause = isTimeout && this.#timeouts + 1 >= this.#maxWrites;
      for (const { reject } of mustPause ? [...batch, ...this.#pending.splice(0)] : batch) reject(error);
      if (mustPause) this.#pausedUntil = performance.now() + PAUSE_MS;
    }
    // Runs before the callers continue, so that the storage is not idle meanwhile.
    this.#writes.delete(batch);
    this.#timeouts = isTimeout ? this.#timeouts + 1 : 0;
    this.#isStalled = isTimeout && this.#writes.size > 0;
    this.#startWrites();
    if (this.#writes.size + this.#pending.length === 0) for (const resolve of this.#draining.splice(0)) resolve();
  }

  /** A write that times out may still end later. */
  #withinTime<T>(write: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timeOut = () => reject(new StorageUnavailable(`the storage did not respond within ${this.#timeoutMs} ms`));
      // A timer may fire up to a millisecond early.
      const timer = setTimeout(timeOut, this.#timeoutMs + 1);
      write.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }
}
