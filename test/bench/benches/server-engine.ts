import type { Bench } from '../harness/bench.js';
import { type Candidate, koaKnexMysql, koaKnexPg, onMariadb, onMemory, onPostgres } from '../harness/candidates.js';
import { ClosedLoopRounds } from '../harness/closed-loop-rounds.js';
import { mariadb, postgres, type Storage } from '../harness/stores.js';

/** Benchmarks the service with a database server on the same machine. */
function serverEngineBench(
  name: string,
  engine: Storage,
  ours: Candidate,
  peer: Candidate,
  atLeast: { readonly ofMemory: number; readonly ofPeer: number },
): Bench {
  return {
    name,
    about: `${engine.name} under 64 clients, compared with the service in memory and ${peer.name}`,
    missing: async () => ((await engine.isAvailable()) ? undefined : `${engine.name} is unavailable`),
    async run(settings) {
      const candidates = [ours, onMemory, peer];
      const rounds = await ClosedLoopRounds.run(candidates, { connections: 64 }, settings);
      const load = `${engine.name}, 64 clients:`;
      return {
        title: `${engine.name}, 64 clients`,
        how: `Closed loop, 64 connections. ${engine.name} runs on the same machine. The table excludes its processor time and includes all syncs that it counts.`,
        tables: [rounds.table(candidates)],
        ratios: [
          rounds.ratio(`${load} relative to the same service on \`memory:\``, ours, onMemory, {
            atLeast: atLeast.ofMemory,
          }),
          rounds.ratio(`${load} relative to ${peer.name}`, ours, peer, { atLeast: atLeast.ofPeer }),
        ],
      };
    },
  };
}

export const postgresBench: Bench = serverEngineBench('postgres', postgres, onPostgres, koaKnexPg, {
  ofMemory: 0.65,
  ofPeer: 2.5,
});

export const mariadbBench: Bench = serverEngineBench('mariadb', mariadb, onMariadb, koaKnexMysql, {
  ofMemory: 0.55,
  ofPeer: 2,
});
