import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { type AddOutcome, type Plant, type PlantStorage, StorageUnavailable } from '../../../core/index.js';
import type { Dialect } from './dialect.js';
import { retryWhileBusy } from './failures.js';
import { KnexPlantRepository } from './knex-plant-repository.js';

/** Longer than most names, but stored in the row: MariaDB 10.11 crashes on a full disk when it stores a value off-page. */
const PROBE_NAME_LENGTH = 4000;

/** A repository with a connection pool of its own. */
export class KnexPlantStorage extends KnexPlantRepository implements PlantStorage {
  readonly #timeoutMs: number;
  readonly #callsInFlight = new Set<Promise<unknown>>();
  /** Whether a write has to show that plants can be added: at first, and after an `add` that failed. */
  #mustProbe: boolean;
  #closing: Promise<void> | undefined;

  /**
   * @param timeoutMs Maximum time to retry a statement while the engine is busy, in milliseconds.
   * @param readOnly Whether `ready` checks reads alone.
   */
  constructor(knex: Knex, dialect: Dialect, timeoutMs: number, readOnly: boolean) {
    super(knex, dialect);
    this.#timeoutMs = timeoutMs;
    this.#mustProbe = !readOnly;
  }

  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    try {
      return await super.add(plants);
    } catch (error) {
      this.#mustProbe = true;
      throw error;
    }
  }

  ready(): Promise<void> {
    return this.call(async () => {
      await this.knex('plants').select(this.knex.raw('1')).limit(1);
      if (!this.#mustProbe) return;
      // Cleared first, because an `add` may fail meanwhile.
      this.#mustProbe = false;
      try {
        await this.run(() => this.#tryInsert());
      } catch (error) {
        this.#mustProbe = true;
        throw error;
      }
    });
  }

  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#callsInFlight).then(() => this.knex.destroy());
    return this.#closing;
  }

  /** Throws after `close`, and lets `close` wait for the call. */
  protected override async call<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing) throw new StorageUnavailable('the repository is closed');
    const call = super.call(work);
    this.#callsInFlight.add(call);
    return call.finally(() => this.#callsInFlight.delete(call));
  }

  /** Retries, because each statement commits by itself. */
  protected override run<T>(statement: (knex: Knex) => Promise<T>): Promise<T> {
    return retryWhileBusy(this.dialect, this.#timeoutMs, () => super.run(statement));
  }

  /**
   * Commits a write, then checks privileges and free space with an insert that the engine undoes, because its second
   * row violates constraints. In a transaction, a ROLLBACK that fails would leave the transaction open in the pool.
   */
  async #tryInsert(): Promise<void> {
    const { commit, textToId, undoesFailedInserts = 'true' } = this.dialect;
    await this.knex.raw(commit);
    // A large name, which does not compress.
    const name = randomBytes(PROBE_NAME_LENGTH / 2).toString('hex');
    const id = `${randomBytes(8).readBigInt64BE()}`;
    const insert = `INSERT INTO plants (id, name, tag)
      SELECT ${textToId}, name, NULL FROM (SELECT ? AS name UNION ALL SELECT NULL) AS names WHERE ${undoesFailedInserts}`;
    try {
      await this.knex.raw(insert, [id, name]);
    } catch (error) {
      // A trigger may reject the first row; plants that it accepts can be added.
      if (this.dialect.classify(error) !== 'rejected') throw error;
    }
  }
}
