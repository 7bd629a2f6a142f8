import { type PlantRepository, StorageUnavailable } from '@plant-store/core';
import type { Knex } from 'knex';
import type { Dialect } from './dialect.js';
import { MissingDriver, toFailure } from './driver-errors.js';
import { KnexPlantRepository, type MakeCall, retryWhileBusy } from './knex-plant-repository.js';
import { selectRows } from './rows.js';
import type { SchemaState } from './schema.js';

/** Inserts no row, but fails like an insert if the server is read-only or a privilege is missing. */
const EMPTY_INSERT = 'INSERT INTO plants (id, name, tag) SELECT id, name, tag FROM plants WHERE false';

/** An open database. */
export interface KnexStorage extends PlantRepository, SchemaState {
  /** A connection pool for {@link joinTransaction}, and for rows of the caller. `close` waits for its transactions. */
  readonly knex: Knex;
  /** The name of the database, without a password. */
  readonly name: string;
  /** The npm package of the driver, or `node:sqlite`. */
  readonly driver: string;
  /** Number of batches to write concurrently, see docs/decisions/0003-group-commit.md. */
  readonly maxWrites: number;
  /** Names of settings with which the server acknowledges plants before they are durable, in a sentence. */
  readonly warning: string | undefined;
  /**
   * Checks that plants can be read. At first and after a call that failed, also commits an insert of no row and a small
   * write, unless the database was opened for reading.
   * @throws {StorageUnavailable}
   */
  ready(): Promise<void>;
  /** Waits for calls in flight, then closes. Idempotent. Later calls throw `StorageUnavailable`, even `add([])`. */
  close(): Promise<void>;
}

/**
 * Creates the repository, its connection pool, and the pool of the caller, whose connections may keep a transaction open
 * or have other settings. Opens no connection.
 */
export async function createStorage(config: Knex.Config, dialect: Dialect, timeoutMs: number, readOnly: boolean) {
  const isCurrent = (connection: object) => {
    if (!failuresBefore.has(connection)) failuresBefore.set(connection, failures);
    return failuresBefore.get(connection) === failures;
  };
  let failures = 0;
  /** The number of failures before the first use of a connection. */
  const failuresBefore = new WeakMap<object, number>();
  const pool = await createKnex({ ...config, pool: { ...config.pool, validate: isCurrent } });
  const knex = await createKnex({
    ...config,
    // An idle connection closes, because the caller may have left a transaction open on it.
    pool: { ...config.pool, min: 0, idleTimeoutMillis: timeoutMs, validate: isCurrent },
  });
  knex.on('query-error', (error) => {
    if (dialect.classify(error) === 'unavailable') failures++;
  });

  const calls = new Set<Promise<unknown>>();
  let mustWrite = !readOnly;
  let closing: Promise<void> | undefined;
  const makeCall: MakeCall = async (work) => {
    if (closing) throw new StorageUnavailable('the repository is closed');
    const call = work();
    calls.add(call);
    try {
      return await call;
    } catch (error) {
      failures++;
      mustWrite = !readOnly;
      throw toFailure(error);
    } finally {
      calls.delete(call);
    }
  };
  const repository = new KnexPlantRepository(pool, dialect, makeCall, timeoutMs);

  const checkReadiness = async () => {
    await selectRows(pool, dialect, 'id = 0');
    if (!mustWrite) return;
    // Cleared first, because a call may fail meanwhile.
    mustWrite = false;
    for (const write of [EMPTY_INSERT, dialect.syncWrite])
      await retryWhileBusy(dialect, timeoutMs, async () => pool.raw(write));
  };
  const destroyPools = async () => {
    await Promise.allSettled(calls);
    await knex.destroy();
    // Not at the same time: SQLite removes the write-ahead log when the last connection closes.
    await pool.destroy();
  };
  return {
    pool,
    knex,
    add: repository.add.bind(repository),
    readAll: repository.readAll.bind(repository),
    ready: () => makeCall(checkReadiness),
    close: () => (closing ??= destroyPools()),
  };
}

async function createKnex(config: Knex.Config): Promise<Knex> {
  // Loaded here, because programs that only parse settings do not need it.
  const { default: knexFactory } = await import('knex');
  // Keeps a statement's values out of the log and of error messages.
  const log = { warn() {}, error() {}, deprecate() {}, debug() {} };
  try {
    return knexFactory({ compileSqlOnError: false, log, ...config });
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('npm install'))) throw error;
    throw new MissingDriver(`the driver ${config.client} is not installed: npm install ${config.client}`);
  }
}
