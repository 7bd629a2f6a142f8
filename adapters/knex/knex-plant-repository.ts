import { setTimeout } from 'node:timers/promises';
import type { Knex } from 'knex';
import {
  type AddOutcome,
  PLANT_ID_MAX,
  PLANT_ID_MIN,
  Plant,
  type PlantId,
  PlantRefused,
  type PlantRepository,
  PlantStoreError,
  StorageUnavailable,
} from '../../core/index.js';
import { whileBusy } from './busy.js';
import type { Engine, PlantRow } from './engine.js';
import { StorageFailure } from './failure.js';

const ADDED: AddOutcome = { kind: 'added' };
/** How often a silent storage is asked whether it is there again, in milliseconds. */
const PROBE_PAUSE_MS = 1000;
/** The most rows that one statement inserts. */
const STATEMENT_ROWS_MAX = 4000;
/** The most text, in UTF-16 units, that one statement inserts; a single plant may exceed it. */
const STATEMENT_TEXT_MAX = 1024 * 1024;
/** Keeps plants in a table `plants` of an SQL database. */
export class KnexPlantRepository implements PlantRepository {
  readonly #knex: Knex;
  readonly #engine: Engine;
  readonly #timeoutMs: number;
  readonly #underWay = new Set<Promise<unknown>>();
  #isSilent = false;
  #closed: Promise<void> | undefined;

  /**
   * @param knex belongs to the repository from now on: closing the one destroys the other
   * @param engine what is special about the database that `knex` leads to
   * @param timeoutMs how long a statement that finds others in its way is tried again, in milliseconds
   */
  constructor(knex: Knex, engine: Engine, timeoutMs: number) {
    this.#knex = knex;
    this.#engine = engine;
    this.#timeoutMs = timeoutMs;
  }

  add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    return this.#whileOpen(() => this.#add(plants));
  }

  async #add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    // In the order of ids, so that overlapping batches of several instances wait for one another and do not deadlock.
    const firsts = isAscending(plants) ? plants : ascendingFirsts(plants);
    const notAdded = new Map<bigint, AddOutcome>();
    for (const batch of statements(firsts)) await this.#addBatch(batch, notAdded);

    const hasTwins = firsts.length < plants.length;
    return plants.map((plant) => {
      const outcome = notAdded.get(plant.id);
      if (outcome) return outcome;
      // Whoever comes later in the batch finds the plant that was added before it.
      if (hasTwins) notAdded.set(plant.id, { kind: 'taken', holder: plant });
      return ADDED;
    });
  }

  /** Adds plants of different ids. Where the engine refuses the batch, it is halved until the refused plant is alone. */
  async #addBatch(batch: readonly Plant[], notAdded: Map<bigint, AddOutcome>): Promise<void> {
    let taken: readonly Plant[];
    try {
      taken = await this.#run(() => this.#engine.insert(this.#knex, batch));
    } catch (error) {
      const [plant, ...others] = batch;
      if (!(error instanceof PlantRefused) || plant === undefined) throw error;
      if (others.length === 0) {
        notAdded.set(plant.id, { kind: 'refused', error });
        return;
      }
      const middle = Math.ceil(batch.length / 2);
      await this.#addBatch(batch.slice(0, middle), notAdded);
      await this.#addBatch(batch.slice(middle), notAdded);
      return;
    }
    for (const row of await this.#holders(taken)) {
      const holder = plantOf(row);
      const outcome: AddOutcome =
        holder instanceof Plant
          ? { kind: 'taken', holder }
          : { kind: 'refused', error: new PlantRefused(`the row that holds its id is no plant: ${holder}`) };
      notAdded.set(BigInt(row.id), outcome);
    }
  }

  /** The rows that hold the ids of these. */
  async #holders(taken: readonly Plant[]): Promise<readonly PlantRow[]> {
    if (taken.length === 0) return [];
    const { idToText, textToId } = this.#engine;
    const ids = taken.map(({ id }) => `${id}`);
    const rows: PlantRow[] = await this.#run(async () =>
      this.#knex('plants')
        .select(this.#knex.raw(`${idToText} AS id`), 'name', 'tag')
        .whereRaw(`id IN (${ids.map(() => textToId).join(', ')})`, ids),
    );
    if (rows.length !== ids.length)
      throw new StorageUnavailable('plants vanished from the storage while they were read');
    return rows;
  }

  async *readAll(): AsyncGenerator<readonly Plant[]> {
    const read = (from: bigint) => this.#whileOpen(() => this.#run(() => this.#engine.page(this.#knex, from)));
    for (let page = read(PLANT_ID_MIN); ; ) {
      const plants = (await page).map(assertedPlantOf);
      const last = plants.at(-1)?.id ?? PLANT_ID_MAX;
      // The next page is read while this one is used. Where nobody asks for it, nobody minds that it failed.
      if (last < PLANT_ID_MAX) page = read(last + 1n);
      page.catch(() => {});
      if (plants.length > 0) yield plants;
      if (last === PLANT_ID_MAX) return;
    }
  }

  async ready(): Promise<void> {
    await this.#whileOpen(() => this.#run(async () => this.#knex('plants').select('id').limit(1)));
  }

  close(): Promise<void> {
    this.#closed ??= Promise.allSettled(this.#underWay).then(() => this.#knex.destroy());
    return this.#closed;
  }

  /** Refuses work after a close, and lets a close wait for work. */
  async #whileOpen<T>(start: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new StorageUnavailable('the repository is closed');
    const work = start();
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }

  /** Runs one statement, again while others are in its way, and turns what a driver throws into the core's errors. */
  async #run<T>(statement: () => Promise<T>): Promise<T> {
    if (this.#isSilent) throw new StorageUnavailable('the storage is silent');
    try {
      const result = await whileBusy(this.#engine, this.#timeoutMs, statement);
      this.#engine.assertInPlace?.();
      return result;
    } catch (error) {
      if (error instanceof PlantStoreError) throw error;
      const cause = new StorageFailure(error);
      if (cause.code === 'ETIMEDOUT') this.#awaitReturn();
      switch (this.#engine.diagnose(error)) {
        case 'defect':
          throw cause;
        case 'refused':
          throw new PlantRefused(`the storage refuses the plant (${cause.code})`, { cause });
        default:
          throw new StorageUnavailable(`the storage does not answer (${cause.code})`, { cause });
      }
    }
  }

  /**
   * Has nobody wait for a storage that was silent for as long as one may wait, until it answers again: else everybody who
   * comes would wait as long, in vain.
   */
  async #awaitReturn(): Promise<void> {
    if (this.#isSilent) return;
    this.#isSilent = true;
    while (this.#isSilent && !this.#closed) {
      await setTimeout(PROBE_PAUSE_MS, undefined, { ref: false });
      await this.#knex.raw('SELECT 1').then(
        () => {
          this.#isSilent = false;
        },
        () => {},
      );
    }
  }
}

function isAscending(plants: readonly Plant[]): boolean {
  return plants.every(({ id }, index) => id > (plants[index - 1]?.id ?? PLANT_ID_MIN - 1n));
}

/** The first plant of each id, ascending by id. */
function ascendingFirsts(plants: readonly Plant[]): readonly Plant[] {
  const firsts = new Map<PlantId, Plant>();
  for (const plant of plants) if (!firsts.has(plant.id)) firsts.set(plant.id, plant);
  return [...firsts.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Cuts plants into what one statement may hold. */
function* statements(plants: readonly Plant[]): Generator<readonly Plant[]> {
  let batch: Plant[] = [];
  let text = 0;
  for (const plant of plants) {
    const length = plant.name.length + (plant.tag?.length ?? 0);
    if (batch.length === STATEMENT_ROWS_MAX || (batch.length > 0 && text + length > STATEMENT_TEXT_MAX)) {
      yield batch;
      batch = [];
      text = 0;
    }
    batch.push(plant);
    text += length;
  }
  if (batch.length > 0) yield batch;
}

/** The plant that a row is, or why somebody else must have written it. */
function plantOf({ id, name, tag }: PlantRow): Plant | string {
  const plant = Plant.from({ id: BigInt(id), name, tag: tag ?? undefined });
  return plant instanceof Plant ? plant : plant.map(({ message }) => message).join('; ');
}

function assertedPlantOf(row: PlantRow): Plant {
  const plant = plantOf(row);
  if (plant instanceof Plant) return plant;
  throw new TypeError(`the table holds a row that is no plant: ${plant}`);
}
