import { type AddOutcome, type Plant, type PlantRepository, StorageUnavailable } from '../../core/index.js';

/** What may be written, and what may wait. */
export interface BatchLimits {
  /** The most batches that are written side by side; 1 by default. */
  readonly writesMax?: number;
  /** The most plants of one batch; 1000 by default. A single call may exceed it. */
  readonly batchRowsMax?: number;
  /** The most bytes of text of one batch, 2 for each UTF-16 code unit; 2 MiB by default. A single call may exceed it. */
  readonly batchBytesMax?: number;
  /** The most plants that wait for their write; 10 000 by default. */
  readonly waitingRowsMax?: number;
  /** The most bytes of text that wait for their write; 128 MiB by default. */
  readonly waitingBytesMax?: number;
}

/** One call of `add` that waits for its write. */
interface Waiting {
  readonly plants: readonly Plant[];
  readonly bytes: number;
  resolve(outcomes: readonly AddOutcome[]): void;
  reject(error: unknown): void;
}

/**
 * Group commit around any repository: what arrives while a write is under way goes together into the next one, so that
 * many plants share the sync that makes them durable. Where nothing is under way, a write begins at once. Each caller
 * learns of its own plants alone, and only when the write that holds them is durable.
 */
export class BatchingPlantRepository implements PlantRepository {
  readonly #plants: PlantRepository;
  readonly #limits: Required<BatchLimits>;
  readonly #waiting: Waiting[] = [];
  #waitingRows = 0;
  #waitingBytes = 0;
  readonly #writes = new Set<Promise<unknown>>();
  #isPlanned = false;
  #closed: Promise<void> | undefined;

  /** @param plants belongs to this repository from now on: closing the one closes the other */
  constructor(plants: PlantRepository, limits: BatchLimits = {}) {
    this.#plants = plants;
    this.#limits = {
      writesMax: 1,
      batchRowsMax: 1000,
      batchBytesMax: 2 * 1024 ** 2,
      waitingRowsMax: 10_000,
      waitingBytesMax: 128 * 1024 ** 2,
      ...limits,
    };
  }

  add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    if (this.#closed) return Promise.reject(new StorageUnavailable('the repository is closed'));
    const bytes = bytesOf(plants);
    const { waitingRowsMax, waitingBytesMax } = this.#limits;
    const isFull = this.#waitingRows + plants.length > waitingRowsMax || this.#waitingBytes + bytes > waitingBytesMax;
    if (isFull && this.#waiting.length > 0) {
      return Promise.reject(new StorageUnavailable('too many plants are waiting for the storage'));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ plants, bytes, resolve, reject });
      this.#waitingRows += plants.length;
      this.#waitingBytes += bytes;
      this.#planWrites();
    });
  }

  readAll(): AsyncIterable<readonly Plant[]> {
    return this.#plants.readAll();
  }

  ready(): Promise<void> {
    return this.#plants.ready();
  }

  close(): Promise<void> {
    this.#closed ??= this.#drained().then(() => this.#plants.close());
    return this.#closed;
  }

  /** Begins to write once this turn of the event loop has brought all that it brings. */
  #planWrites(): void {
    if (this.#isPlanned || this.#writes.size >= this.#limits.writesMax) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      this.#startWrites();
    });
  }

  #startWrites(): void {
    while (this.#waiting.length > 0 && this.#writes.size < this.#limits.writesMax) {
      const batch = this.#takeBatch();
      const write = this.#plants.add(batch.flatMap(({ plants }) => plants));
      this.#writes.add(write);
      const done = (answer: () => void) => {
        this.#writes.delete(write);
        // The next write is on its way before the answers of this one are.
        this.#startWrites();
        answer();
      };
      write.then(
        (outcomes) => done(() => resolveAll(batch, outcomes)),
        (error) => done(() => rejectAll(batch, error)),
      );
    }
  }

  /** The first that wait, as many as a batch may hold, at least one. */
  #takeBatch(): readonly Waiting[] {
    const { batchRowsMax, batchBytesMax } = this.#limits;
    let rows = 0;
    let bytes = 0;
    const end = this.#waiting.findIndex((call) => {
      rows += call.plants.length;
      bytes += call.bytes;
      return rows > batchRowsMax || bytes > batchBytesMax;
    });
    const batch = this.#waiting.splice(0, end === -1 ? this.#waiting.length : Math.max(end, 1));
    for (const call of batch) {
      this.#waitingRows -= call.plants.length;
      this.#waitingBytes -= call.bytes;
    }
    return batch;
  }

  async #drained(): Promise<void> {
    for (this.#startWrites(); this.#writes.size > 0; ) await Promise.allSettled(this.#writes);
  }
}

/** Gives each call the outcomes of its own plants. */
function resolveAll(batch: readonly Waiting[], outcomes: readonly AddOutcome[]): void {
  let start = 0;
  for (const { plants, resolve } of batch) {
    const end = start + plants.length;
    resolve(outcomes.slice(start, end));
    start = end;
  }
}

function rejectAll(batch: readonly Waiting[], error: unknown): void {
  for (const { reject } of batch) reject(error);
}

function bytesOf(plants: readonly Plant[]): number {
  let units = 0;
  for (const { name, tag } of plants) units += name.length + (tag?.length ?? 0);
  return 2 * units;
}
