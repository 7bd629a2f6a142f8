import type { Bench } from '../harness/bench.js';
import { fastify, feathers, koaEcho, koaKnexSqlite, onMemory, onSqlite } from '../harness/candidates.js';
import { ClosedLoopRounds } from '../harness/closed-loop-rounds.js';

export const sqlite: Bench = {
  name: 'sqlite',
  about: 'SQLite under 64 clients, compared with the service in memory and four other programs; memory under load',
  async run(settings) {
    const candidates = [onSqlite, onMemory, koaEcho, fastify, feathers, koaKnexSqlite];
    const rounds = await ClosedLoopRounds.run(candidates, { connections: 64 }, settings);
    const load = 'SQLite, 64 clients:';
    return {
      title: 'SQLite, 64 clients',
      how: 'Closed loop, 64 connections. Programs that store plants use SQLite with a write-ahead log and `synchronous=FULL`.',
      tables: [rounds.table(candidates)],
      ratios: [
        rounds.ratio(`${load} relative to the same service on \`memory:\``, onSqlite, onMemory, { atLeast: 0.9 }),
        rounds.ratio(`${load} relative to the Koa echo`, onSqlite, koaEcho, { atLeast: 1 }),
        rounds.ratio(`${load} relative to Fastify + better-sqlite3`, onSqlite, fastify, { atLeast: 2.2 }),
        rounds.ratio(`${load} relative to Feathers`, onSqlite, feathers, { atLeast: 7 }),
        rounds.ratio(`${load} relative to Koa + Knex + sqlite3`, onSqlite, koaKnexSqlite),
        rounds.ratio(
          'peak memory under load: relative to Koa + Knex + sqlite3',
          onSqlite,
          koaKnexSqlite,
          { atMost: 1.2 },
          'memoryMib',
        ),
      ],
    };
  },
};
