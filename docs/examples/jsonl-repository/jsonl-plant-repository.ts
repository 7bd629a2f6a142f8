import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type AddOutcome, Plant, type PlantId, type PlantRepository, StorageUnavailable } from 'plant-store/core';

/** The most plants in one batch of a reader. */
const PAGE_SIZE = 1000;
const LINE_FEED = 0x0a;

/** Keeps plants in a file with one JSON array, `["<id>", "<name>", "<tag>" or null]`, a line, and all of them in memory. */
export class JsonlPlantRepository implements PlantRepository {
  readonly #lock: string;
  readonly #file: FileHandle;
  readonly #plants: Map<PlantId, Plant>;
  /** How many bytes of the file are whole lines that are synced. */
  #length: number;
  /** Whether the file may be longer than that. */
  #hasTornEnd: boolean;
  /** The call before the next one: one call at a time. */
  #last: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;

  private constructor(lock: string, file: FileHandle, bytes: Buffer) {
    this.#lock = lock;
    this.#file = file;
    // What comes after the last line feed was torn by a crash, before anybody was told that it is stored.
    this.#length = bytes.lastIndexOf(LINE_FEED) + 1;
    this.#hasTornEnd = this.#length < bytes.length;
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, this.#length));
    const lines = text.split('\n').slice(0, -1);
    this.#plants = new Map(lines.map(plantOf).map((plant) => [plant.id, plant]));
  }

  /**
   * Opens a file, or makes a new one.
   *
   * @throws {StorageUnavailable} when another process has it open, or when it cannot be read
   */
  static async open(givenPath: string): Promise<JsonlPlantRepository> {
    const path = resolve(givenPath);
    const lock = `${path}.lock`;
    await asStorage(`cannot lock ${path} (if no process has it open, remove ${lock})`, async () => {
      await (await open(lock, 'wx')).close();
    });
    let file: FileHandle | undefined;
    try {
      return await asStorage(`cannot open ${path}`, async () => {
        file = await open(path, 'a+', 0o600);
        // Lines of a killed process may not be synced; a new file outlives a power cut once its folder is synced, too.
        await file.sync();
        const folder = await open(dirname(path));
        await folder.sync().finally(() => folder.close());
        return new JsonlPlantRepository(lock, file, await file.readFile());
      });
    } catch (error) {
      await file?.close();
      await rm(lock);
      throw error;
    }
  }

  add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    return this.#inTurn(async () => {
      const added = new Map<PlantId, Plant>();
      const outcomes = plants.map((plant): AddOutcome => {
        const holder = this.#plants.get(plant.id) ?? added.get(plant.id);
        if (holder !== undefined) return { kind: 'taken', holder };
        added.set(plant.id, plant);
        return { kind: 'added' };
      });
      if (added.size > 0) await this.#append(added.values());
      for (const [id, plant] of added) this.#plants.set(id, plant);
      return outcomes;
    });
  }

  /** Cuts off what a failed write left, then writes and syncs. */
  async #append(plants: Iterable<Plant>): Promise<void> {
    const lines = Array.from(plants, ({ id, name, tag }) => `${JSON.stringify([`${id}`, name, tag])}\n`).join('');
    if (this.#hasTornEnd) await this.#file.truncate(this.#length);
    this.#hasTornEnd = true;
    await this.#file.appendFile(lines);
    await this.#file.sync();
    this.#length += Buffer.byteLength(lines);
    this.#hasTornEnd = false;
  }

  async *readAll(): AsyncGenerator<readonly Plant[]> {
    const plants = await this.#inTurn(async () => [...this.#plants.values()].sort((a, b) => (a.id < b.id ? -1 : 1)));
    for (let start = 0; start < plants.length; start += PAGE_SIZE) yield plants.slice(start, start + PAGE_SIZE);
  }

  ready(): Promise<void> {
    return this.#inTurn(() => this.#file.sync());
  }

  close(): Promise<void> {
    this.#closed ??= this.#last.then(async () => {
      await this.#file.close();
      await rm(this.#lock, { force: true });
    });
    return this.#closed;
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new StorageUnavailable('the repository is closed');
    const turn = this.#last.then(() => asStorage('the file cannot be used', work));
    this.#last = turn.catch(() => {});
    return turn;
  }
}

/** Turns what the operating system throws into the core's error; it tells the code alone. */
async function asStorage<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOfSystem = error instanceof Error && 'code' in error;
    throw new StorageUnavailable(`${what}: ${isOfSystem ? error.code : 'it holds a line that is no plant'}`);
  }
}

function plantOf(line: string): Plant {
  const [id, name, tag]: unknown[] = JSON.parse(line);
  if (typeof id === 'string' && typeof name === 'string' && (tag === null || typeof tag === 'string')) {
    const plant = Plant.from({ id: BigInt(id), name, tag: tag ?? undefined });
    if (plant instanceof Plant) return plant;
  }
  throw new TypeError('a line is no plant');
}
