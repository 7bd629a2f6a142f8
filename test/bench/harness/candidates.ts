import { inRepository } from '../../support/paths.js';
import { mariadb, postgres, type Storage, sqlite } from './stores.js';

/** A program that is measured. */
export interface Candidate {
  readonly name: string;
  /** Arguments of Node. */
  readonly args: readonly string[];
  /** Durable storage, whose rows are checked after a run. */
  readonly storage?: Storage;
  readonly environment?: Readonly<Record<string, string>>;
}

/** The service with default settings, including its request log. */
const serve = [inRepository('dist/composition/cli.js'), 'serve'];

export const onSqlite: Candidate = { name: 'Plant Store on SQLite', args: serve, storage: sqlite };
export const onPostgres: Candidate = { name: 'Plant Store on PostgreSQL', args: serve, storage: postgres };
export const onMariadb: Candidate = { name: 'Plant Store on MariaDB', args: serve, storage: mariadb };
export const onMemory: Candidate = {
  name: 'Plant Store in memory',
  args: serve,
  environment: { DATABASE_URL: 'memory:' },
};

/** Returns a program in `test/bench/peers`. */
function peer(name: string, file: string, storage?: Storage): Candidate {
  return { name, args: [inRepository(`test/bench/peers/${file}`)], ...(storage ? { storage } : {}) };
}

export const koaEcho: Candidate = peer('Koa echo (no storage, validation or log)', 'koa-echo.js');
export const fastify: Candidate = peer('Fastify + better-sqlite3', 'fastify-better-sqlite3.js', sqlite);
export const feathers: Candidate = peer('Feathers (Koa, Knex, sqlite3)', 'feathers.js', sqlite);
export const koaKnexSqlite: Candidate = peer('Koa + Knex + sqlite3', 'koa-knex.js', sqlite);
export const koaKnexPg: Candidate = peer('Koa + Knex + pg', 'koa-knex.js', postgres);
export const koaKnexMysql: Candidate = peer('Koa + Knex + mysql2', 'koa-knex.js', mariadb);
