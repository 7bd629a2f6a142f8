import { inRepository } from '../../support/paths.js';
import { mariadb, postgres, type Storage, sqlite } from './stores.js';

/** A program that is measured, and its durable storage, whose rows are checked after a run. */
export interface Candidate {
  readonly name: string;
  /** File that Node runs. */
  readonly file: string;
  readonly storage?: Storage | undefined;
  /** The Node that runs it, with options; by default the one that runs the benchmarks. */
  readonly node?: readonly string[];
}

/** The service with default settings, including its request log. */
const service = (name: string, storage?: Storage): Candidate => ({
  name,
  file: 'dist/composition/cli/main.js',
  storage,
});
const peer = (name: string, file: string, storage?: Storage): Candidate => {
  return { name, file: `test/bench/peers/${file}`, storage };
};

export const onSqlite: Candidate = service('Plant Store on SQLite', sqlite);
export const onPostgres: Candidate = service('Plant Store on PostgreSQL', postgres);
export const onMariadb: Candidate = service('Plant Store on MariaDB', mariadb);
export const onMemory: Candidate = service('Plant Store in memory');
export const koaEcho: Candidate = peer('Koa echo (no storage, validation or log)', 'koa-echo.js');
export const fastify: Candidate = peer('Fastify + better-sqlite3', 'fastify-better-sqlite3.js', sqlite);
export const feathers: Candidate = peer('Feathers (Koa, Knex, sqlite3)', 'feathers.js', sqlite);
export const koaKnexSqlite: Candidate = peer('Koa + Knex + sqlite3', 'koa-knex.js', sqlite);
export const koaKnexPg: Candidate = peer('Koa + Knex + pg', 'koa-knex.js', postgres);
export const koaKnexMysql: Candidate = peer('Koa + Knex + mysql2', 'koa-knex.js', mariadb);

const node24 = inRepository('test/bench/peers/node_modules/node-24/bin/node');
const WITHOUT_SQLITE3 = `data:text/javascript,import { registerHooks } from 'node:module';
  registerHooks({ resolve: (name, context, next) => next(name === 'sqlite3' ? 'sqlite3-is-not-installed' : name, context) });`;

export const onSqlite3: Candidate = { ...service('Plant Store on sqlite3', sqlite), node: [node24] };
export const onNodeSqlite: Candidate = {
  ...service('Plant Store on node:sqlite', { ...sqlite, name: 'node:sqlite' }),
  node: [node24, '--import', WITHOUT_SQLITE3],
};
