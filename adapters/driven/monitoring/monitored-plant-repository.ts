import { setTimeout as pause } from 'node:timers/promises';
import {
  type AddOutcome,
  isPlantStoreError,
  type Plant,
  type PlantRepository,
  PlantRepositoryDecorator,
  StorageUnavailable,
} from '../../../core/index.js';

/** Pause between probes while writes hang, and before the first attempt without a probe, in milliseconds. */
const PAUSE_MS = 1000;

/** The storage did not respond in time. After an `add` that throws it, further calls fail immediately. */
export class StorageTimeout extends StorageUnavailable {}

/** What the program that opened a storage calls; use cases do not. */
export interface StorageLifecycle {
  /**
   * Checks that the storage can be read and, after an `add` that threw `StorageUnavailable`, written. Stores no plant.
   * @throws {StorageUnavailable} The storage is unavailable, full or closed.
   */
  ready(): Promise<void>;
  /** Waits for calls in flight, then closes. Idempotent. Later calls throw `StorageUnavailable`, even `add([])`. */
  close(): Promise<void>;
}

/** The state of a storage at the moment, for metrics. */
export interface StorageStatistics {
  /** The connections in use, the statements that wait for one, and the maximum. Absent without a connection pool. */
  readonly pool?: { readonly inUse: number; readonly pending: number; readonly max: number } | undefined;
  /** The sizes of the data and of its write-ahead log, in bytes. Absent if the storage has no files. */
  readonly files?: { readonly sizeBytes: number; readonly logSizeBytes: number } | undefined;
}

/** Options of {@link MonitoredPlantRepository}. */
export interface MonitoringOptions {
  /** Maximum time for `add` and `ready`, in milliseconds. Absent if the repository throws {@link StorageTimeout}. */
  readonly timeoutMs?: number;
  /** Commits a write that stores no plant. If absent, only calls of `add` show whether writes succeed. */
  readonly probe?: () => Promise<void>;
}

/**
 * Monitors the writes of any storage: limits their time, and lets `ready` throw after a failed `add` until a write
 * succeeds (docs/decisions/0019-readiness-follows-writes.md).
 */
export class MonitoredPlantRepository
  extends PlantRepositoryDecorator<PlantRepository & StorageLifecycle>
  implements StorageLifecycle
{
  readonly #timeoutMs: number | undefined;
  readonly #probe: MonitoringOptions['probe'];
  /**
   * `failing`: `ready` throws until a write succeeds; with a probe, `ready` probes. `hanging`: an `add` timed out, and
   * further calls of `add` also fail immediately. Otherwise, `ready` relies on the storage.
   */
  #writes: 'working' | 'failing' | 'hanging';
  /** The probes that run while writes hang. */
  #recovery: Promise<void> | undefined;
  /** While writes hang and there is no probe, the time of the next attempt (`performance.now()`). */
  #retryAt = 0;
  /** Doubles with each attempt, so that few calls hang at once even if none of them ever ends. */
  #retryPauseMs = PAUSE_MS;
  /** A call of `ready` that timed out and has not ended. No other call starts until a write succeeds. */
  #hangingCheck: Promise<void> | undefined;
  #isClosed = false;

  /** @param storage Closed by {@link close}. */
  constructor(storage: PlantRepository & StorageLifecycle, { timeoutMs, probe }: MonitoringOptions) {
    super(storage);
    this.#timeoutMs = timeoutMs;
    this.#probe = probe;
    this.#writes = probe ? 'failing' : 'working';
  }

  override async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    if (this.#writes === 'hanging') {
      // Without a probe, one call at a time may try.
      if (this.#probe || performance.now() < this.#retryAt)
        throw new StorageUnavailable('an earlier write timed out, and no write has succeeded since');
      this.#retryAt = Number.POSITIVE_INFINITY;
    }
    const call = this.#add(plants);
    try {
      return await withTimeout(this.#timeoutMs, call);
    } catch (error) {
      this.#noteFailure(error);
      call.catch((lateError) => {
        if (lateError !== error && this.#writes === 'hanging') this.#noteFailure(lateError);
      });
      throw error;
    }
  }

  async ready(): Promise<void> {
    if (this.#probe && this.#writes !== 'working') await this.#runProbe(this.#probe);
    if (this.#writes !== 'working') throw new StorageUnavailable('a write failed, and no write has succeeded since');
    if (this.#hangingCheck) throw new StorageUnavailable('an earlier check has not ended');
    const check = (async () => this.decorated.ready())();
    const forget = () => {
      if (this.#hangingCheck === check) this.#hangingCheck = undefined;
    };
    try {
      await withTimeout(this.#timeoutMs, check);
    } catch (error) {
      if (error instanceof StorageTimeout) {
        this.#hangingCheck = check;
        check.then(forget, forget);
      }
      throw error;
    }
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.decorated.close();
  }

  async #add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    const outcomes = await this.decorated.add(plants);
    // Only a probe shows that the storage can do all kinds of writes; without one, an added plant shows that it can write.
    if (this.#probe) return outcomes;
    if (outcomes.some(({ kind }) => kind === 'added')) this.#noteSuccess();
    else if (this.#writes === 'hanging') this.#writes = 'working';
    return outcomes;
  }

  #noteSuccess(): void {
    this.#writes = 'working';
    this.#retryPauseMs = PAUSE_MS;
    this.#hangingCheck = undefined;
  }

  #noteFailure(error: unknown): void {
    if (error instanceof StorageTimeout) {
      this.#writes = 'hanging';
      this.#retryAt = performance.now() + this.#retryPauseMs;
      this.#retryPauseMs *= 2;
      if (this.#probe) this.#recovery ??= this.#recover(this.#probe);
    } else if (!this.#probe) {
      this.#writes = isPlantStoreError(error, 'STORAGE_UNAVAILABLE') ? 'working' : 'failing';
    } else if (this.#writes === 'working') {
      this.#writes = 'failing';
    }
  }

  /** Probes until writes no longer hang. */
  async #recover(probe: () => Promise<void>): Promise<void> {
    while (this.#writes === 'hanging' && !this.#isClosed)
      await this.#runProbe(probe).catch(() => pause(PAUSE_MS, undefined, { ref: false }));
    this.#recovery = undefined;
  }

  /** Any error means that the probe failed. */
  async #runProbe(probe: () => Promise<void>): Promise<void> {
    await probe();
    this.#noteSuccess();
  }
}

/** Rejects with {@link StorageTimeout} if `call` takes too long; it may still end later. */
export function withTimeout<T>(timeoutMs: number | undefined, call: Promise<T>): Promise<T> {
  if (timeoutMs === undefined) return call;
  return new Promise((resolve, reject) => {
    const fail = () => reject(new StorageTimeout(`the storage did not respond within ${timeoutMs} ms`));
    const timer = setTimeout(fail, timeoutMs);
    const settle =
      <V>(end: (result: V) => void) =>
      (result: V) => {
        clearTimeout(timer);
        end(result);
      };
    call.then(settle(resolve), settle(reject));
  });
}
