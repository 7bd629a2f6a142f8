import type { Knex } from 'knex';
import { type PlantStorage, StorageUnavailable } from '../../../core/index.js';
import { type Engine, retryWhileBusy, toReason } from './engine.js';
import { KnexPlantRepository } from './knex-plant-repository.js';
import { assertTable, migrate, readPending } from './migrations.js';

const NOT_DURABLE = 'the database acknowledges plants before they are durable; a power cut or a failover may lose them';

/** A database to open. Create one with `sqliteDatabase`, `postgresDatabase` or `mysqlDatabase`. */
export interface Database extends DatabaseOptions {
  readonly engine: Engine;
  /** Name for messages, without a password. */
  readonly name: string;
  /** Prepares the files of the database, if any, and returns Knex's configuration. */
  readonly configure: () => Knex.Config | Promise<Knex.Config>;
}

/** Options of any database. */
export interface DatabaseOptions {
  /** Maximum time for a statement, and for a wait for a connection, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether the storage will only be read. If so, creates and migrates nothing. @default false */
  readonly readOnly?: boolean | undefined;
}

/** An open database. */
export interface KnexStorage extends PlantStorage {
  /** The name of the database, without a password. */
  readonly name: string;
  readonly driver: string;
  /** Number of batches to write concurrently. */
  readonly maxWrites: number;
  /** Whether opening created or migrated the schema, or found it current; `pending`: opened for reading, and neither. */
  readonly schema: 'created' | 'migrated' | 'current' | 'pending';
  /** The names of pending migrations. */
  readonly pending: readonly string[];
  /** Set if the server acknowledges plants before they are durable; names the settings. */
  readonly warning: string | undefined;
}

/**
 * Opens a database and migrates its schema.
 * @throws {StorageUnavailable} The database cannot be opened. The message has the reason.
 */
export async function openRepository(database: Database): Promise<KnexStorage> {
  const { engine, name, timeoutMs, readOnly = false } = database;
  const { driver, maxWrites = 1 } = engine;
  let knex: Knex | undefined;
  try {
    knex = await createKnex(database);
    const schema = await (readOnly ? readSchema(knex, engine) : prepareSchema(knex, database));
    const repository = new KnexPlantRepository(knex, engine, timeoutMs, readOnly);
    return Object.assign(repository, { name, driver, maxWrites, ...schema });
  } catch (error) {
    await knex?.destroy();
    throw new StorageUnavailable(`cannot open ${name}: ${toReason(error)}`);
  }
}

type Schema = Pick<KnexStorage, 'schema' | 'pending' | 'warning'>;

async function readSchema(knex: Knex, engine: Engine): Promise<Schema> {
  const pending = await readPending(knex, engine);
  if (pending.length === 0) await assertTable(knex, engine);
  return { schema: pending.length > 0 ? 'pending' : 'current', pending, warning: undefined };
}

async function prepareSchema(knex: Knex, database: Database): Promise<Schema> {
  const { engine, timeoutMs } = database;
  const { migrations, nonDurableSettings: sql } = engine;
  const applied = await retryWhileBusy(engine, timeoutMs, async () => {
    const connection = await createKnex(database);
    return migrate(connection, engine).finally(() => connection.destroy());
  });
  await retryWhileBusy(engine, timeoutMs, async () => engine.prepare?.(knex));
  const isNew = applied.length === Object.keys(migrations).length;
  const settings: string[] = sql ? await knex.from(knex.raw(`(${sql}) AS settings`)).pluck('setting') : [];
  return {
    schema: isNew ? 'created' : applied.length > 0 ? 'migrated' : 'current',
    pending: [],
    warning: settings.length > 0 ? `${NOT_DURABLE}: ${settings.join(', ')}` : undefined,
  };
}

async function createKnex({ engine: { driver }, timeoutMs, configure }: Database): Promise<Knex> {
  const config = await configure();
  // Loaded here, because programs that only parse settings do not need it.
  const { default: knexFactory } = await import('knex');
  // Keeps a statement's values out of the log and of error messages.
  const log = { warn() {}, error() {}, deprecate() {}, debug() {} };
  const defaults = { client: driver, compileSqlOnError: false, log, acquireConnectionTimeout: timeoutMs };
  try {
    return knexFactory({ ...defaults, ...config });
  } catch {
    throw new StorageUnavailable(`the driver ${driver} is not installed: npm install ${driver}`);
  }
}
