import { inRepository } from '../../support/paths.js';
import { mariadb, postgres, type Storage, sqlite } from './stores.js';

/** A program that is measured. */
export interface Candidate {
  readonly name: string;
  /** The arguments for Node. */
  readonly args: readonly string[];
  /** Where it keeps plants durably; programs without one are asked for no rows. */
  readonly storage?: Storage;
  readonly environment?: Readonly<Record<string, string>>;
}

/** The service as its users run it: default settings, and its request log on. */
const serve = [inRepository('dist/composition/cli.js'), 'serve'];

export const onSqlite: Candidate = { name: 'Plant Store on SQLite', args: serve, storage: sqlite };
export const onPostgres: Candidate = { name: 'Plant Store on PostgreSQL', args: serve, storage: postgres };
export const onMariadb: Candidate = { name: 'Plant Store on MariaDB', args: serve, storage: mariadb };
export const onMemory: Candidate = {
  name: 'Plant Store on memory:',
  args: serve,
  environment: { DATABASE_URL: 'memory:' },
};

/** A program of `test/bench/peers`. */
function peer(name: string, file: string, storage?: Storage): Candidate {
  return { name, args: [inRepository(`test/bench/peers/${file}`)], ...(storage ? { storage } : {}) };
}

export const koaEcho: Candidate = peer('Koa echo: stores, checks, logs nothing', 'koa-echo.js');
export const fastify: Candidate = peer('Fastify + better-sqlite3', 'fastify-better-sqlite3.js', sqlite);
export const feathers: Candidate = peer('Feathers (Koa, Knex, sqlite3)', 'feathers.js', sqlite);
export const koaKnexSqlite: Candidate = peer('Koa + Knex + sqlite3', 'koa-knex.js', sqlite);
export const koaKnexPg: Candidate = peer('Koa + Knex + pg', 'koa-knex.js', postgres);
export const koaKnexMysql: Candidate = peer('Koa + Knex + mysql2', 'koa-knex.js', mariadb);
