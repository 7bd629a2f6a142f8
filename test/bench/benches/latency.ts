import type { Bench, Column, Settings } from '../harness/bench.js';
import { type Candidate, koaEcho, onSqlite } from '../harness/candidates.js';
import { closedLoop, generator } from '../harness/closed-loop.js';
import { inTurn, killUnderLoad } from '../harness/closed-loop-rounds.js';
import { openLoop } from '../harness/open-loop.js';
import { probe } from '../harness/probe.js';
import { checkRun } from '../harness/run-check.js';
import { Server } from '../harness/server.js';
import { ratios } from '../harness/statistics.js';

const CONNECTIONS = 64;
/** Fraction of the peak rate at which requests are sent. */
const RATE_FRACTION = 0.7;

interface Sample {
  /** Responses per second of the closed loop that precedes the open one. */
  readonly peak: number;
  /** Requests per second that the open loop sends. */
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly invalidReason: string | undefined;
}

export const latency: Bench = {
  name: 'latency',
  about: 'latency at a fixed rate, 70 % of the peak, compared with the Koa echo at 70 % of its own peak',
  async missing() {
    return generator.name === 'wrk'
      ? undefined
      : 'wrk is not installed, and autocannon uses too much processor time to keep a fixed rate';
  },
  async run(settings) {
    const candidates = [onSqlite, koaEcho];
    const samplesOf = await inTurn(
      candidates,
      settings,
      (candidate) => round(candidate, settings),
      ({ rate, p99, invalidReason }) => invalidReason ?? `p99 ${p99.toFixed(2)} ms at ${rate}/s`,
    );
    const invalidReasonOf = (candidate: Candidate) =>
      samplesOf(candidate).find(({ invalidReason }) => invalidReason)?.invalidReason;
    const [ours, echo] = candidates.map((candidate) => samplesOf(candidate).map(({ p99 }) => p99));
    return {
      title: 'Latency at a fixed rate',
      how: 'Open loop: requests are sent at 70 % of the rate that a closed loop of 64 connections reached immediately before, regardless of responses. Latency counts from the scheduled time of a request, so that a stall affects every request that it delays (no coordinated omission). Requests are scheduled at whole milliseconds.',
      tables: [
        {
          head: 'program',
          columns: COLUMNS,
          rows: candidates.map((candidate) => ({
            name: candidate.name,
            cells: Object.fromEntries(
              COLUMNS.map(({ key }) => [key, samplesOf(candidate).map((sample) => sample[key])]),
            ),
            invalidReason: invalidReasonOf(candidate),
          })),
        },
      ],
      ratios: [
        {
          work: 'p99 at 70 % of the peak rate, open loop: relative to the Koa echo at 70 % of its own peak',
          samples: ratios(ours ?? [], echo ?? []),
          atMost: 2,
          invalidReason: invalidReasonOf(onSqlite) ?? invalidReasonOf(koaEcho),
        },
      ],
    };
  },
};

const COLUMNS = [
  { key: 'peak', title: 'peak, requests/s', digits: 0 },
  { key: 'rate', title: 'sent, requests/s', digits: 0 },
  { key: 'p50', title: 'median, ms', digits: 2 },
  { key: 'p99', title: 'p99, ms', digits: 2 },
  { key: 'p999', title: 'p99.9, ms', digits: 2 },
] as const satisfies readonly Column[];

async function round(candidate: Candidate, { folder, loadSeconds, warmUpSeconds }: Settings): Promise<Sample> {
  const store = await candidate.storage?.create(folder);
  try {
    const server = await Server.start(candidate, store, folder);
    try {
      await probe(server.port);
      const warmUp = await closedLoop(server.port, CONNECTIONS, warmUpSeconds);
      const peak = await closedLoop(server.port, CONNECTIONS, Math.ceil(loadSeconds / 2));
      const rate = Math.round(peak.rate * RATE_FRACTION);
      const open = await openLoop(server.port, rate, { seconds: loadSeconds, warmUpSeconds });
      const killed = await killUnderLoad(server, CONNECTIONS);
      const rows = candidate.storage && (await store?.rows());
      // The checked create also has a row.
      const invalidReason = checkRun([warmUp, peak, open], killed, rows && rows - 1);
      const { p50Ms: p50, p99Ms: p99, p999Ms: p999 } = open;
      return { peak: peak.rate, rate, p50, p99, p999, invalidReason };
    } finally {
      await server.kill();
    }
  } finally {
    await store?.drop();
  }
}
