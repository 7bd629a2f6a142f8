import type { Bench } from '../harness/bench.js';
import { koaKnexSqlite, onSqlite } from '../harness/candidates.js';
import { ClosedLoopRounds } from '../harness/closed-loop-rounds.js';

export const oneClient: Bench = {
  name: 'one-client',
  about: 'SQLite under a single client, compared with Koa + Knex + sqlite3',
  async run(settings) {
    const candidates = [onSqlite, koaKnexSqlite];
    const rounds = await ClosedLoopRounds.run(candidates, { connections: 1 }, settings);
    return {
      title: 'SQLite, 1 client',
      how: 'Closed loop, 1 connection, so each plant requires its own sync.',
      tables: [rounds.table(candidates)],
      ratios: [
        rounds.ratio('SQLite, 1 client: relative to Koa + Knex + sqlite3', onSqlite, koaKnexSqlite, { atLeast: 0.95 }),
      ],
    };
  },
};
