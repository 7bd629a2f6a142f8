import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import knexFactory from 'knex';
import { postgresServer } from '../support/database-servers.js';

/** The store of a program, which is empty at first. */
export interface Store {
  /** Settings of the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Counts the plants whose id is at least `firstId`. */
  count(firstId: number): Promise<number>;
}

const folders: string[] = [];
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Creates a folder that is removed at the end of the process. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'));
  folders.push(folder);
  return folder;
}

/** Creates a SQLite file. */
export async function createSqliteStore(): Promise<Store> {
  const file = join(temporaryFolder(), 'plants.db');
  const count = async (firstId: number) => Number(execFileSync('sqlite3', [file, toCountSql(firstId)]));
  return { env: { DATABASE_FILE: file, DATABASE_URL: `sqlite:${file}` }, count };
}

/** Creates a schema on the PostgreSQL server of the tests, instead of that of an earlier round. */
export async function createPostgresStore(): Promise<Store> {
  const url = new URL(postgresServer.url);
  url.searchParams.set('options', '-c search_path=plant_store_bench');
  const query = async (sql: string) => {
    const knex = knexFactory({ client: 'pg', connection: url.href });
    return (await knex.raw(sql).finally(() => knex.destroy())).rows;
  };
  await query('DROP SCHEMA IF EXISTS plant_store_bench CASCADE');
  await query('CREATE SCHEMA plant_store_bench');
  return {
    env: { DATABASE_URL: url.href },
    count: async (firstId) => Number((await query(toCountSql(firstId)))[0].count),
  };
}

function toCountSql(firstId: number): string {
  return `SELECT count(*) AS count FROM plants WHERE id >= ${firstId}`;
}
