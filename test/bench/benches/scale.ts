import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { openRepository, sqliteDatabase } from '../../../adapters/driven/knex/index.js';
import { toPlant } from '../../support/plants.js';
import type { Bench, Contender, Target } from '../harness/bench.js';
import { ndjsonLine, plantStore, runTimed, scattered, writeLines } from '../harness/bulk.js';
import { onSqlite } from '../harness/candidates.js';
import { predictedRates } from '../harness/prediction.js';
import { runRound } from '../harness/round.js';
import { linearFit, median } from '../harness/statistics.js';

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

export const scale: Bench = {
  name: 'scale',
  title: 'Scale: slowed-down syncs',
  how: 'Plant Store on SQLite in a closed loop, run under `strace -f --seccomp-bpf`, which delays and counts every fsync and fdatasync (`inject=…:delay_exit`). The prediction is `predictedRates` in `test/bench/harness/prediction.ts`: a batch has half as many plants as there are connections; it costs the processor time of these plants, measured on the unmodified disk, plus one write, which takes a + b · plants + the delay. The lower bound of the rate assumes that the two run one after the other, the upper bound that they overlap.',
  async prepare(settings) {
    const times = settings.quick ? 50 : 300;
    const syncMs = syncTimeMs(settings.folder, times);
    const batches = await batchTimesMs(settings.folder, [1, 8, 32, 128, 512], times);
    const batchMs = linearFit(batches);
    const { intercept, slope } = batchMs;
    /** Processor time per request on the unmodified disk, by number of connections. */
    const cpuMs = new Map<number, number>();

    const runs = [0, 1, 10].flatMap((syncDelayMs) => [64, 512].map((connections) => ({ syncDelayMs, connections })));
    const contenders = runs.map(({ syncDelayMs, connections }): Contender => {
      const disk = syncDelayMs === 0 ? 'unmodified' : `${syncDelayMs} ms slower`;
      return [
        `sync ${disk}, ${connections} connections`,
        async () => {
          const figures = await runRound(onSqlite, { connections, syncDelayMs }, settings);
          // Only these, so that no slowed-down measurement influences its own prediction.
          if (syncDelayMs === 0) cpuMs.set(connections, figures.cpuUs / 1000);
          const costs = { cpuMs: cpuMs.get(connections) ?? Number.NaN, batchMs, syncDelayMs, connections };
          return { ...figures, ...predictedRates(costs) };
        },
      ];
    });
    return [
      {
        caption: `Costs: a sync of 4 KiB takes ${syncMs.toFixed(3)} ms, a batch a + b · plants with a = ${intercept.toFixed(3)} ms (including one sync) and b = ${(slope * 1000).toFixed(2)} µs`,
        head: 'plants in a batch',
        columns: [
          { key: 'ms', title: 'measured, ms', digits: 2 },
          { key: 'fit', title: 'a + b · plants, ms', digits: 2 },
        ],
        rounds: 1,
        contenders: batches.map(([plants, ms]) => [`${plants}`, async () => ({ ms, fit: intercept + slope * plants })]),
      },
      {
        caption: 'The rate',
        head: 'run',
        columns: [
          { key: 'rate', title: 'requests/s', digits: 0 },
          { key: 'atLeast', title: 'predicted, at least', digits: 0 },
          { key: 'atMost', title: 'predicted, at most', digits: 0 },
          { key: 'responsesPerSync', title: 'requests/sync', digits: 1 },
          { key: 'syncMs', title: 'sync without the delay, ms', digits: 2 },
          { key: 'cpuUs', title: 'processor, µs/request', digits: 1 },
        ],
        contenders,
      },
    ];
  },
};

/** Measures `add` on SQLite for each batch size; returns the median of `times` samples, in milliseconds. */
async function batchTimesMs(folder: string, sizes: readonly number[], times: number) {
  const repository = await openRepository(sqliteDatabase({ path: join(folder, 'batches.db'), timeoutMs: 10_000 }));
  let nextId = 1;
  const points: (readonly [plants: number, ms: number])[] = [];
  for (const size of sizes) {
    const samples: number[] = [];
    for (; samples.length < times; nextId += size) {
      const ids = Array.from({ length: size }, (_, index) => BigInt(nextId + index));
      const batch = ids.map((id) => toPlant({ id, name: `Monstera ${id}`, tag: 'indoor' }));
      const beganMs = performance.now();
      await repository.add(batch);
      samples.push(performance.now() - beganMs);
    }
    points.push([size, median(samples)]);
  }
  await repository.close();
  return points;
}

/** Measures an append and sync of 4 KiB; returns the median of `times` samples, in milliseconds. */
function syncTimeMs(folder: string, times: number): number {
  const file = openSync(join(folder, 'sync'), 'w');
  const samples = Array.from({ length: times }, () => {
    writeSync(file, Buffer.alloc(4096, 1));
    const beganMs = performance.now();
    fdatasyncSync(file);
    return performance.now() - beganMs;
  });
  closeSync(file);
  return median(samples);
}
