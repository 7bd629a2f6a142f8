import { performance } from 'node:perf_hooks';
import type { Bench, Settings } from '../harness/bench.js';
import { type Candidate, koaKnexSqlite, onSqlite } from '../harness/candidates.js';
import { inTurn } from '../harness/closed-loop-rounds.js';
import { probe } from '../harness/probe.js';
import { Server } from '../harness/server.js';
import { ratios } from '../harness/statistics.js';

export const start: Bench = {
  name: 'start',
  about: 'from the start of the process to the first response, compared with Koa + Knex + sqlite3',
  async run(settings) {
    const candidates = [onSqlite, koaKnexSqlite];
    // Warm up the file system cache and the HTTP client of this process.
    for (const candidate of candidates) await msToFirstResponse(candidate, settings);
    const samplesOf = await inTurn(
      candidates,
      { rounds: settings.quick ? 3 : 15, say: settings.say },
      (candidate) => msToFirstResponse(candidate, settings),
      (ms) => `${Math.round(ms)} ms`,
    );
    return {
      title: 'Start to first response',
      how: 'From the start of the process to the first 200, including the creation of a new SQLite file and its table.',
      tables: [
        {
          head: 'program',
          columns: [{ key: 'ms', title: 'ms', digits: 0 }],
          rows: candidates.map((candidate) => ({ name: candidate.name, cells: { ms: samplesOf(candidate) } })),
        },
      ],
      ratios: [
        {
          work: 'start to first response: relative to Koa + Knex + sqlite3',
          samples: ratios(samplesOf(onSqlite), samplesOf(koaKnexSqlite)),
          atMost: 1.5,
        },
      ],
    };
  },
};

async function msToFirstResponse(candidate: Candidate, { folder }: Settings): Promise<number> {
  const store = await candidate.storage?.create(folder);
  try {
    const beganMs = performance.now();
    const server = await Server.start(candidate, store, folder);
    try {
      await probe(server.port);
      return performance.now() - beganMs;
    } finally {
      await server.kill();
    }
  } finally {
    await store?.drop();
  }
}
