import { setTimeout } from 'node:timers/promises';
import { type AddOutcome, type Plant, type PlantId, type PlantRepository, StorageUnavailable } from '@plant-store/core';
import type { Knex } from 'knex';
import type { Caller } from './connections.js';
import type { Dialect } from './dialect.js';
import { toCodes } from './driver-errors.js';
import { fitsStatement, type StoredRow, selectPage, selectRows, selectStored, toRow } from './rows.js';
import { readFindings } from './schema.js';

/** Pause before a retry, in milliseconds. */
const PAUSE_MS = 10;

/** Inserts no row, but fails like an insert if the server is read-only or a privilege is missing. */
const EMPTY_INSERT = 'INSERT INTO plants (id, name, tag) SELECT id, name, tag FROM plants WHERE false';

/** Stores plants in the table `plants` of a SQL database, through a pool of connections or in the caller's transaction. */
export class KnexPlantRepository implements PlantRepository {
  readonly #knex: Knex;
  readonly #dialect: Dialect;
  readonly #caller: Caller;
  readonly #options: { readonly timeoutMs: number; readonly readOnly: boolean };
  #failedAdds = 0;
  /** The number of failed adds before the last write of {@link ready} that succeeded. */
  #failedAddsAtWrite = -1;

  /** @param options.timeoutMs Maximum time to retry a statement while the engine is busy, except in a transaction. */
  constructor(knex: Knex, dialect: Dialect, caller: Caller, options = { timeoutMs: 0, readOnly: false }) {
    this.#knex = knex;
    this.#dialect = dialect;
    this.#caller = caller;
    this.#options = options;
  }

  add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    // A copy, because the caller may change its array meanwhile.
    const copy = [...plants];
    return this.#caller.call(() =>
      this.#add(copy).catch((error) => {
        this.#failedAdds++;
        throw error;
      }),
    );
  }

  async #add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    // Ascending ids prevent deadlocks between overlapping batches of several instances.
    const ascending = plants.toSorted((a, b) => Number(a.id > b.id) - Number(a.id < b.id));
    const firsts = ascending.filter(({ id }, index) => id !== ascending[index - 1]?.id);
    /** The outcomes of plants that were not added. */
    const outcomes = new Map<PlantId, AddOutcome>();
    let hasWrittenLast = await this.#insert(firsts, outcomes);
    // The usual case, without a lookup per plant.
    if (outcomes.size === 0 && firsts.length === plants.length) return plants.map(() => ({ kind: 'added' }));
    const results: AddOutcome[] = [];
    for (const plant of plants) {
      // The engine may accept another plant with the id of one that it has rejected.
      if (outcomes.get(plant.id)?.kind === 'rejected' && !firsts.includes(plant)) {
        outcomes.delete(plant.id);
        hasWrittenLast = await this.#insert([plant], outcomes);
      }
      const outcome = outcomes.get(plant.id);
      results.push(outcome ?? { kind: 'added' });
      if (!outcome) outcomes.set(plant.id, { kind: 'conflict', stored: plant });
    }
    // A stored plant may be visible before it is durable.
    if (!hasWrittenLast) await this.#run(() => this.#dialect.sync(this.#knex));
    return results;
  }

  ready(): Promise<void> {
    return this.#caller.call(async () => {
      const failedAdds = this.#failedAdds;
      await selectRows(this.#knex, this.#dialect, 'id = 0');
      if (this.#options.readOnly || this.#failedAddsAtWrite === failedAdds) return;
      // The server is asked before the write, because a session that begins after it failed may be outdated later.
      const [readOnlyServer] = await readFindings(this.#knex, this.#dialect.readOnlyServer);
      try {
        await this.#run(async () => this.#knex.raw(EMPTY_INSERT));
        await this.#run(() => this.#dialect.sync(this.#knex));
      } catch (error) {
        const cause = toCodes(error);
        throw readOnlyServer === undefined
          ? error
          : new StorageUnavailable(`${readOnlyServer} (${cause.code})`, { cause });
      }
      this.#failedAddsAtWrite = failedAdds;
    });
  }

  /** Inserts plants with distinct, ascending ids. Returns whether it has written, and not read stored plants since. */
  async #insert(plants: readonly Plant[], outcomes: Map<PlantId, AddOutcome>): Promise<boolean> {
    const [plant] = plants;
    if (plant === undefined) return false;
    if (!fitsStatement(plants)) return this.#insertHalves(plants, outcomes);
    let rejection: unknown;
    try {
      await this.#run(() => this.#caller.execute(this.#dialect.toInsert(plants.map(toRow), this.#knex)));
      return true;
    } catch (error) {
      const kind = this.#dialect.classify(error);
      if (kind !== 'rejected' && kind !== 'duplicate') throw error;
      rejection = error;
    }
    const stored = await this.#run(() => selectStored(this.#knex, this.#dialect, plants));
    if (stored.length > 0) {
      for (const { id, plant } of stored)
        outcomes.set(id, plant ? { kind: 'conflict', stored: plant } : toRejected('its stored row is invalid'));
      // The recursion ends, because there are fewer plants each time.
      const free = plants.filter(({ id }) => !outcomes.has(id));
      return this.#insert(free, outcomes);
    }
    if (plants.length > 1) return this.#insertHalves(plants, outcomes);
    // The plant that has the id was removed, or the snapshot of a transaction hides it. A retry tells.
    if (this.#dialect.classify(rejection) === 'duplicate') throw rejection;
    outcomes.set(plant.id, toRejected(`the storage rejected the plant (${toCodes(rejection).code})`));
    return false;
  }

  async #insertHalves(plants: readonly Plant[], outcomes: Map<PlantId, AddOutcome>): Promise<boolean> {
    const middle = Math.ceil(plants.length / 2);
    await this.#insert(plants.slice(0, middle), outcomes);
    return this.#insert(plants.slice(middle), outcomes);
  }

  async find(id: PlantId): Promise<Plant | undefined> {
    const condition = `id = ${this.#dialect.textToId}`;
    const [plant] = await this.#read(() => selectRows(this.#knex, this.#dialect, condition, [id]));
    return plant;
  }

  read(from: PlantId, limit: number): Promise<readonly Plant[]> {
    return this.#read(() => selectPage(this.#knex, this.#dialect, from, limit));
  }

  async #read(select: () => Promise<readonly StoredRow[]>): Promise<readonly Plant[]> {
    const rows = await this.#caller.call(() => this.#run(select));
    const plants = rows.flatMap(({ plant }) => plant ?? []);
    if (plants.length < rows.length) throw new StorageUnavailable('a stored row is not a valid plant');
    return plants;
  }

  #run<T>(statement: () => Promise<T>): Promise<T> {
    // In a transaction, the engine may have undone earlier statements.
    return this.#knex.isTransaction ? statement() : retryWhileBusy(this.#dialect, this.#options.timeoutMs, statement);
  }
}

/** Retries `work` while the engine reports that it is busy, for up to `timeoutMs` milliseconds. */
export async function retryWhileBusy<T>(dialect: Dialect, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (dialect.classify(error) !== 'busy' || performance.now() > deadline) throw error;
      await setTimeout(PAUSE_MS);
    }
  }
}

function toRejected(message: string): AddOutcome {
  return { kind: 'rejected', error: new Error(message) };
}
