import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { type AddOutcome, type OpenPlantRepository, Plant, type PlantId, StorageUnavailable } from '@plant-store/core';

const LINE_FEED = 0x0a;

/** Stores plants in memory and in a file with one JSON array per line: `["<id>", "<name>", "<tag>" or null]`. */
export class JsonlPlantRepository implements OpenPlantRepository {
  readonly #lockPath: string;
  readonly #file: FileHandle;
  readonly #plants = new MemoryPlantRepository();
  /** Length of the complete, synced lines in bytes. */
  #syncedBytes: number;
  /** Whether part of a failed write may follow the synced lines. */
  #hasPartialLine: boolean;
  /** The previous call. Calls run one at a time. */
  #lastCall: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;

  private constructor(lockPath: string, file: FileHandle, bytes: Buffer) {
    this.#lockPath = lockPath;
    this.#file = file;
    // A crash may leave a partial last line, which was never acknowledged.
    this.#syncedBytes = bytes.lastIndexOf(LINE_FEED) + 1;
    this.#hasPartialLine = this.#syncedBytes < bytes.length;
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, this.#syncedBytes));
    void this.#plants.add(text.split('\n').slice(0, -1).map(parseLine));
  }

  /**
   * Opens or creates a file.
   *
   * @throws {StorageUnavailable} Another process has the file open, or it cannot be read.
   */
  static async open(givenPath: string): Promise<JsonlPlantRepository> {
    const path = resolve(givenPath);
    const lockPath = `${path}.lock`;
    await translateErrors(`cannot lock ${path} (if no process has it open, remove ${lockPath})`, async () => {
      await (await open(lockPath, 'wx')).close();
    });
    let file: FileHandle | undefined;
    try {
      return await translateErrors(`cannot open ${path}`, async () => {
        file = await open(path, 'a+', 0o600);
        // Syncs lines of a crashed process, and the folder, so that a new file survives a power cut.
        await file.sync();
        const folder = await open(dirname(path));
        await folder.sync().finally(() => folder.close());
        return new JsonlPlantRepository(lockPath, file, await file.readFile());
      });
    } catch (error) {
      await file?.close();
      await rm(lockPath);
      throw error;
    }
  }

  async add(given: readonly Plant[]): Promise<readonly AddOutcome[]> {
    // A copy, because the caller may change its array meanwhile.
    const plants = [...given];
    return this.#enqueue(async () => {
      const added = new Map<PlantId, Plant>();
      const outcomes: AddOutcome[] = [];
      for (const plant of plants) {
        const stored = added.get(plant.id) ?? (await this.#plants.find(plant.id));
        outcomes.push(stored === undefined ? { kind: 'added' } : { kind: 'conflict', stored });
        if (stored === undefined) added.set(plant.id, plant);
      }
      if (added.size > 0) await this.#append(added.values());
      await this.#plants.add([...added.values()]);
      return outcomes;
    });
  }

  /** Removes the rest of a failed write, then writes and syncs. */
  async #append(plants: Iterable<Plant>): Promise<void> {
    const lines = Array.from(plants, ({ id, name, tag }) => `${JSON.stringify([`${id}`, name, tag])}\n`).join('');
    if (this.#hasPartialLine) await this.#file.truncate(this.#syncedBytes);
    this.#hasPartialLine = true;
    await this.#file.appendFile(lines);
    await this.#file.sync();
    this.#syncedBytes += Buffer.byteLength(lines);
    this.#hasPartialLine = false;
  }

  find(id: PlantId): Promise<Plant | undefined> {
    return this.#enqueue(() => this.#plants.find(id));
  }

  read(from: PlantId, limit: number): Promise<readonly Plant[]> {
    return this.#enqueue(() => this.#plants.read(from, limit));
  }

  ready(): Promise<void> {
    return this.#enqueue(() => this.#file.sync());
  }

  close(): Promise<void> {
    this.#closed ??= this.#lastCall.then(async () => {
      await this.#file.close();
      await rm(this.#lockPath, { force: true });
    });
    return this.#closed;
  }

  async #enqueue<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new StorageUnavailable('the repository is closed');
    const call = this.#lastCall.then(() => translateErrors('cannot use the file', work));
    this.#lastCall = call.catch(() => {});
    return call;
  }
}

/** Converts errors to StorageUnavailable, with the error code of the operating system only. */
async function translateErrors<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isSystemError = error instanceof Error && 'code' in error;
    throw new StorageUnavailable(`${what}: ${isSystemError ? error.code : 'the file contains an invalid line'}`);
  }
}

function parseLine(line: string): Plant {
  const [id, name, tag]: unknown[] = JSON.parse(line);
  if (typeof id === 'string' && typeof name === 'string' && (tag === null || typeof tag === 'string')) {
    const result = Plant.from({ id: BigInt(id), name, tag: tag ?? undefined });
    if (result.kind === 'valid') return result.plant;
  }
  throw new TypeError('invalid line');
}
