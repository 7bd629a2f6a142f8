import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, Contender, Target } from '../harness/bench.js';
import { ndjsonLine, plantStore, runTimed, scattered, writeLines } from '../harness/bulk.js';
import { onSqlite } from '../harness/candidates.js';
import { runRound } from '../harness/round.js';

const PASSES = 8;

export const tenMillion: Bench = {
  name: 'ten-million',
  title: 'A large store',
  how: `Plant Store on SQLite, closed loop of 64 connections, on a new file, and on one that \`plant-store import\` filled beforehand and that every round adds to. Ascending ids start at 1; random ids are spread over 2⁵² and imported in ${PASSES} ascending passes over that range, which is faster than random order and leaves the pages equally full. The file fits in memory.`,
  prepare(settings) {
    const plants = settings.quick ? 200_000 : 10_000_000;
    const size = `${plants / 1e6} million`;
    const ndjson = join(settings.folder, 'plants.ndjson');
    const contenders: Contender[] = [];
    const ratios: Target[] = [];
    for (const [ids, what, idOf, atLeast] of [
      ['ascending', 'ascending ids', (number: number) => number, 0.9],
      ['scattered', 'random ids', idsInPasses(plants), 0.6],
    ] as const) {
      // The rounds share one file, because copying it would keep the disk busy during the measurement.
      const file = join(settings.folder, `${ids}.db`);
      settings.say(`prefill the store: ${size}, ${what}`);
      writeLines(ndjson, plants, (number) => ndjsonLine(idOf(number)));
      runTimed(plantStore('import', ndjson), { databaseUrl: `sqlite:${file}` });
      rmSync(ndjson);
      const [against, of] = [`empty, ${what}`, `${size}, ${what}`];
      contenders.push(
        [against, () => runRound(onSqlite, { connections: 64, ids }, settings)],
        [of, () => runRound(onSqlite, { connections: 64, ids, file }, settings)],
      );
      const work = `create rate with ${size} plants stored, ${what}: relative to an empty store`;
      ratios.push({ work, of, against, atLeast });
    }
    return [
      {
        head: 'store',
        columns: [
          { key: 'rate', title: 'requests/s', digits: 0 },
          { key: 'cpuUs', title: 'processor, µs/request', digits: 1 },
          { key: 'p99Ms', title: 'p99, ms', digits: 1 },
        ],
        contenders,
        ratios,
      },
    ];
  },
};

/**
 * Returns scattered ids in several ascending passes over the whole range. Inserts split pages as in random order and
 * leave them equally full, but the import is many times faster.
 */
function idsInPasses(count: number): (number: number) => number {
  const ids = Float64Array.from({ length: count }, (_, index) => scattered(index + 1));
  const passSize = Math.ceil(count / PASSES);
  for (let from = 0; from < count; from += passSize) ids.subarray(from, from + passSize).sort();
  return (number) => ids[number - 1] ?? Number.NaN;
}

export const slowDisk: Bench = {
  name: 'slow-disk',
  title: 'Slowed-down syncs',
  how: 'Plant Store on SQLite in a closed loop, run under `strace -f --seccomp-bpf`, which delays and counts every fsync and fdatasync (`inject=…:delay_exit`).',
  prepare(settings) {
    const runs = [0, 1, 10].flatMap((syncDelayMs) => [64, 512].map((connections) => ({ syncDelayMs, connections })));
    return [
      {
        head: 'run',
        columns: [
          { key: 'rate', title: 'requests/s', digits: 0 },
          { key: 'responsesPerSync', title: 'requests/sync', digits: 1 },
          { key: 'syncMs', title: 'sync without the delay, ms', digits: 2 },
          { key: 'cpuUs', title: 'processor, µs/request', digits: 1 },
        ],
        contenders: runs.map(({ syncDelayMs, connections }) => [
          `sync ${syncDelayMs === 0 ? 'unmodified' : `${syncDelayMs} ms slower`}, ${connections} connections`,
          () => runRound(onSqlite, { connections, syncDelayMs }, settings),
        ]),
      },
    ];
  },
};
