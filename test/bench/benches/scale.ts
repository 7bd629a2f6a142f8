import { batchTimesMs, syncTimeMs } from '../harness/batch-times.js';
import type { Bench, Column, Settings } from '../harness/bench.js';
import { onSqlite } from '../harness/candidates.js';
import { closedLoop } from '../harness/closed-loop.js';
import { inTurn, killUnderLoad } from '../harness/closed-loop-rounds.js';
import { predictedRates } from '../harness/prediction.js';
import { probe } from '../harness/probe.js';
import { refusalOf } from '../harness/refusal.js';
import { Server } from '../harness/server.js';
import { linearFit, median } from '../harness/statistics.js';
import { sqlite } from '../harness/stores.js';
import { canTrace, SyncTrace } from '../harness/syncs.js';

const BATCH_ROWS = [1, 8, 32, 128, 512];
const DELAYS_MS = [0, 1, 10];
const CONNECTIONS = [64, 512];

/** A load on a disk that was slowed down. */
interface Case {
  readonly name: string;
  readonly delayMs: number;
  readonly connections: number;
}

interface Sample {
  /** Answers a second. */
  readonly rate: number;
  readonly cpuUs: number;
  readonly answersPerSync: number;
  /** How long a sync took by itself, without the delay: the mean. */
  readonly syncMs: number;
  readonly refused: string | undefined;
}

export const scale: Bench = {
  name: 'scale',
  about: 'what a rate follows from, and the rate on disks slowed down on purpose against its prediction',
  missing: async () => (canTrace ? undefined : 'strace cannot trace here'),
  async run(settings) {
    const times = settings.quick ? 50 : 300;
    const syncMs = syncTimeMs(settings.folder, times);
    const batches = await batchTimesMs(settings.folder, BATCH_ROWS, times);
    const batchMs = linearFit(batches);
    settings.say(`sync ${syncMs.toFixed(3)} ms, batch ${JSON.stringify({ batches, batchMs })}`);

    const cases = DELAYS_MS.flatMap((delayMs) =>
      CONNECTIONS.map((connections): Case => {
        const disk = delayMs === 0 ? 'as it is' : `${delayMs} ms slower`;
        return { name: `sync ${disk}, ${connections} connections`, delayMs, connections };
      }),
    );
    const samplesOf = await inTurn(
      cases,
      settings,
      (one) => round(one, settings),
      ({ rate, answersPerSync, refused }) =>
        refused ?? `${Math.round(rate)} answers/s, ${answersPerSync.toFixed(1)} a sync`,
    );

    const rows = cases.map((one) => {
      const samples = samplesOf(one);
      const rate = samples.map((sample) => sample.rate);
      // The processor's share is taken from the disk as it is, so that nothing slowed goes into its own prediction.
      const asItIs = cases.find(({ delayMs, connections }) => delayMs === 0 && connections === one.connections) ?? one;
      const cpuMs = median(samplesOf(asItIs).map(({ cpuUs }) => cpuUs)) / 1000;
      const { atLeast, atMost } = predictedRates({
        cpuMs,
        batchMs,
        syncDelayMs: one.delayMs,
        connections: one.connections,
      });
      return {
        name: one.name,
        cells: {
          rate,
          atLeast: [atLeast],
          atMost: [atMost],
          answersPerSync: samples.map((sample) => sample.answersPerSync),
          syncMs: samples.map((sample) => sample.syncMs),
          cpuUs: samples.map((sample) => sample.cpuUs),
        },
        refused: samples.find(({ refused }) => refused)?.refused,
      };
    });
    return {
      title: 'Scale: a sync slowed down on purpose',
      how: 'Plant Store on SQLite in a closed loop, run by `strace -f --seccomp-bpf`, which lets every fsync and fdatasync end later (`inject=…:delay_exit`) and counts them. The prediction is `predictedRates` in `test/bench/harness/prediction.ts`: a batch has connections / 2 plants; it takes their processor time, as on the disk as it is, and a write of a + b · plants + the delay: one after the other (at least), or the longer of the two (at most).',
      tables: [
        {
          caption: `What it follows from: a sync of 4 KiB by itself takes ${syncMs.toFixed(3)} ms, a batch a + b · plants with a = ${batchMs.intercept.toFixed(3)} ms (one sync in it) and b = ${(batchMs.slope * 1000).toFixed(2)} µs`,
          head: 'plants in a batch',
          columns: [
            { key: 'ms', title: 'measured, ms', digits: 2 },
            { key: 'fit', title: 'a + b · plants, ms', digits: 2 },
          ],
          rows: batches.map(([size, ms]) => ({
            name: `${size}`,
            cells: { ms: [ms], fit: [batchMs.intercept + batchMs.slope * size] },
          })),
        },
        { caption: 'The rate', head: 'run', columns: COLUMNS, rows },
      ],
      ratios: [],
      facts: { syncMs, batchInterceptMs: batchMs.intercept, batchSlopeMs: batchMs.slope },
    };
  },
};

const COLUMNS: readonly Column[] = [
  { key: 'rate', title: 'answers/s', digits: 0 },
  { key: 'atLeast', title: 'predicted, at least', digits: 0 },
  { key: 'atMost', title: 'predicted, at most', digits: 0 },
  { key: 'answersPerSync', title: 'answers/sync', digits: 1 },
  { key: 'syncMs', title: 'sync without the delay, ms', digits: 2 },
  { key: 'cpuUs', title: 'processor, µs/answer', digits: 1 },
];

async function round(
  { delayMs, connections }: Case,
  { folder, loadSeconds, warmUpSeconds }: Settings,
): Promise<Sample> {
  const store = await sqlite.create(folder);
  const trace = new SyncTrace(folder, delayMs);
  try {
    const server = await Server.start(onSqlite, store, folder, trace.command);
    try {
      await probe(server.port);
      const warmUp = await closedLoop(server.port, connections, warmUpSeconds);
      const cpuBefore = server.cpuMs();
      const beganMs = Date.now();
      const measured = await closedLoop(server.port, connections, loadSeconds);
      const endedMs = Date.now();
      const cpuUs = ((server.cpuMs() - cpuBefore) * 1000) / measured.answers;
      const killed = await killUnderLoad(server, connections);
      const refused = refusalOf([warmUp, measured], killed, (await store.rows()) - 1);
      const syncs = trace.between(beganMs, endedMs);
      const answersPerSync = measured.answers / syncs.length;
      const syncMs = syncs.reduce((sum, { tookMs }) => sum + tookMs, 0) / syncs.length;
      return { rate: measured.rate, cpuUs, answersPerSync, syncMs, refused };
    } finally {
      await server.kill();
    }
  } finally {
    await store.drop();
  }
}
