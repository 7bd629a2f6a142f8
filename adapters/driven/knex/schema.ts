import { MAX_PLANT_ID, StorageUnavailable } from '@plant-store/core';
import type { Knex } from 'knex';
import type { Dialect } from './dialect.js';
import { selectPage, TEXTS } from './rows.js';

/** The table of applied migrations. */
const TABLE = 'plant_store_migrations';

/** The state of the schema of a database. */
export interface SchemaState {
  /**
   * Whether opening created or migrated the schema, or found it current. Opening for reading may find it `missing`, or
   * migrations `pending`.
   */
  readonly schema: 'created' | 'migrated' | 'current' | 'missing' | 'pending';
  /** The names of pending migrations. */
  readonly pending: readonly string[];
}

/** Reads the state of the schema. Checks the table of plants, also that of another program, unless a migration may mend it. */
export async function readSchema(knex: Knex, dialect: Dialect): Promise<SchemaState> {
  const pending = await readPending(knex, dialect);
  const isNew = pending.length === Object.keys(dialect.migrations).length;
  if (isNew && !(await knex.schema.hasTable('plants'))) {
    assertNone(await readFindings(knex, dialect.faults));
    return { schema: 'missing', pending };
  }
  if (isNew || pending.length === 0) await assertTable(knex, dialect);
  return { schema: pending.length > 0 ? 'pending' : 'current', pending };
}

/**
 * Applies the pending migrations in one transaction (MySQL commits each statement). Instances that start together wait
 * for each other or, on MySQL, repeat the statements.
 * @param knex The caller destroys it if this fails, because a failed COMMIT or ROLLBACK leaves the transaction open.
 */
export async function migrate(knex: Knex, dialect: Dialect): Promise<SchemaState> {
  const { migrations, migrationLock, afterMigrations } = dialect;
  const transaction = await knex.transaction();
  try {
    if (migrationLock) await transaction.raw(migrationLock);
    const pending = await readPending(transaction, dialect);
    // The user may lack the privilege, which a current schema does not need.
    if (pending.length > 0)
      await transaction.raw(`CREATE TABLE IF NOT EXISTS ${TABLE} (name VARCHAR(255) PRIMARY KEY)`);
    for (const name of pending) {
      for (const statement of migrations[name] ?? []) await transaction.raw(statement);
      await transaction(TABLE).insert({ name }).onConflict().ignore();
    }
    await assertTable(transaction, dialect);
    await transaction.commit();
    // `commit` resolves even if COMMIT fails.
    await transaction.executionPromise;
    if (afterMigrations) await knex.raw(afterMigrations);
    if (pending.length === 0) return { schema: 'current', pending };
    const isNew = pending.length === Object.keys(migrations).length;
    return { schema: isNew ? 'created' : 'migrated', pending: [] };
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

/**
 * Reads the names of the pending migrations.
 * @throws {StorageUnavailable} The schema is newer than this version.
 */
async function readPending(knex: Knex, { migrations }: Dialect): Promise<readonly string[]> {
  const known = Object.keys(migrations);
  const done: string[] = (await knex.schema.hasTable(TABLE)) ? await knex(TABLE).pluck('name') : [];
  const unknown = done.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new StorageUnavailable(`its schema has ${unknown.join(', ')}; start a newer version of plant-store`);
  return known.filter((name) => !done.includes(name));
}

/** Checks the table of plants. @throws {StorageUnavailable} It is missing, or cannot keep every plant. */
async function assertTable(knex: Knex, dialect: Dialect): Promise<void> {
  type Column = Record<'name' | 'type', string> & Record<'nullable' | 'has_default' | 'is_key', boolean>;
  const columns: readonly Column[] = await knex.from(knex.raw(`(${dialect.columns}) AS found`)).select();
  const faults = [...(await readFindings(knex, dialect.faults))];
  const fields = ['id', ...Object.keys(TEXTS)];
  for (const field of fields) {
    const type = columns.find(({ name }) => name === field)?.type;
    const expected = dialect.types[field === 'id' ? 'id' : 'text'];
    if (type === undefined) faults.push(`${field} is missing`);
    else if (!expected.test(type)) faults.push(`the type of ${field} is ${type}`);
  }
  const key = columns.filter(({ is_key }) => is_key).map(({ name }) => name);
  if (`${key}` !== 'id') faults.push('its primary key is not id');
  for (const { name, type, nullable, has_default } of columns) {
    if (name === 'name' && nullable) faults.push('name may be NULL');
    const isLeftOut = fields.includes(name) ? name !== 'id' && name !== 'name' : !has_default;
    if (isLeftOut && !nullable) faults.push(`${name} (${type}) must have a value`);
  }
  assertNone(faults);
  // This reads as an export does. SQLite before 3.43 lacks OCTET_LENGTH.
  await selectPage(knex, dialect, MAX_PLANT_ID, 1);
}

function assertNone(faults: readonly string[]): void {
  if (faults.length > 0) throw new StorageUnavailable(`the table plants cannot keep every plant: ${faults.join(', ')}`);
}

/** Returns what SQL selects as `finding`. */
export async function readFindings(knex: Knex, sql: string | undefined): Promise<readonly string[]> {
  return sql === undefined ? [] : knex.from(knex.raw(`(${sql}) AS findings`)).pluck('finding');
}
