import { batchTimesMs, syncTimeMs } from '../harness/batch-times.js';
import type { Bench, Column, Settings } from '../harness/bench.js';
import { onSqlite } from '../harness/candidates.js';
import { closedLoop } from '../harness/closed-loop.js';
import { inTurn, killUnderLoad } from '../harness/closed-loop-rounds.js';
import { predictedRates } from '../harness/prediction.js';
import { probe } from '../harness/probe.js';
import { checkRun } from '../harness/run-check.js';
import { Server } from '../harness/server.js';
import { linearFit, median } from '../harness/statistics.js';
import { sqlite } from '../harness/stores.js';
import { canTrace, SyncTrace } from '../harness/syncs.js';

const BATCH_ROWS = [1, 8, 32, 128, 512];
const DELAYS_MS = [0, 1, 10];
const CONNECTIONS = [64, 512];

/** A load on a slowed-down disk. */
interface Case {
  readonly name: string;
  readonly delayMs: number;
  readonly connections: number;
}

interface Sample {
  /** Responses per second. */
  readonly rate: number;
  readonly cpuUs: number;
  readonly responsesPerSync: number;
  /** Mean duration of a sync, without the delay. */
  readonly syncMs: number;
  readonly invalidReason: string | undefined;
}

export const scale: Bench = {
  name: 'scale',
  about: 'the costs that determine the rate, and predicted and measured rates on slowed-down disks',
  missing: async () => (canTrace ? undefined : 'strace cannot trace system calls on this machine'),
  async run(settings) {
    const times = settings.quick ? 50 : 300;
    const syncMs = syncTimeMs(settings.folder, times);
    const batches = await batchTimesMs(settings.folder, BATCH_ROWS, times);
    const batchMs = linearFit(batches);
    settings.say(`sync ${syncMs.toFixed(3)} ms, batch ${JSON.stringify({ batches, batchMs })}`);

    const cases = DELAYS_MS.flatMap((delayMs) =>
      CONNECTIONS.map((connections): Case => {
        const disk = delayMs === 0 ? 'unmodified' : `${delayMs} ms slower`;
        return { name: `sync ${disk}, ${connections} connections`, delayMs, connections };
      }),
    );
    const samplesOf = await inTurn(
      cases,
      settings,
      (one) => round(one, settings),
      ({ rate, responsesPerSync, invalidReason }) =>
        invalidReason ?? `${Math.round(rate)} requests/s, ${responsesPerSync.toFixed(1)} a sync`,
    );

    const rows = cases.map((one) => {
      const samples = samplesOf(one);
      const rate = samples.map((sample) => sample.rate);
      // Processor time from the unmodified disk, so that no slowed-down measurement influences its own prediction.
      const unmodified =
        cases.find(({ delayMs, connections }) => delayMs === 0 && connections === one.connections) ?? one;
      const cpuMs = median(samplesOf(unmodified).map(({ cpuUs }) => cpuUs)) / 1000;
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
          responsesPerSync: samples.map((sample) => sample.responsesPerSync),
          syncMs: samples.map((sample) => sample.syncMs),
          cpuUs: samples.map((sample) => sample.cpuUs),
        },
        invalidReason: samples.find(({ invalidReason }) => invalidReason)?.invalidReason,
      };
    });
    return {
      title: 'Scale: slowed-down syncs',
      how: 'Plant Store on SQLite in a closed loop, run under `strace -f --seccomp-bpf`, which delays and counts every fsync and fdatasync (`inject=…:delay_exit`). The prediction is `predictedRates` in `test/bench/harness/prediction.ts`: a batch has half as many plants as there are connections; it costs the processor time of these plants, measured on the unmodified disk, plus one write, which takes a + b · plants + the delay. The lower bound of the rate assumes that the two run one after the other, the upper bound that they overlap.',
      tables: [
        {
          caption: `Costs: a sync of 4 KiB takes ${syncMs.toFixed(3)} ms, a batch a + b · plants with a = ${batchMs.intercept.toFixed(3)} ms (including one sync) and b = ${(batchMs.slope * 1000).toFixed(2)} µs`,
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
  { key: 'rate', title: 'requests/s', digits: 0 },
  { key: 'atLeast', title: 'predicted, at least', digits: 0 },
  { key: 'atMost', title: 'predicted, at most', digits: 0 },
  { key: 'responsesPerSync', title: 'requests/sync', digits: 1 },
  { key: 'syncMs', title: 'sync without the delay, ms', digits: 2 },
  { key: 'cpuUs', title: 'processor, µs/request', digits: 1 },
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
      const cpuUs = ((server.cpuMs() - cpuBefore) * 1000) / measured.responses;
      const killed = await killUnderLoad(server, connections);
      const invalidReason = checkRun([warmUp, measured], killed, (await store.rows()) - 1);
      const syncs = trace.between(beganMs, endedMs);
      const responsesPerSync = measured.responses / syncs.length;
      const syncMs = syncs.reduce((sum, { tookMs }) => sum + tookMs, 0) / syncs.length;
      return { rate: measured.rate, cpuUs, responsesPerSync, syncMs, invalidReason };
    } finally {
      await server.kill();
    }
  } finally {
    await store.drop();
  }
}
