import type { Bench, Column, Settings } from '../harness/bench.js';
import { type Candidate, koaEcho, onSqlite } from '../harness/candidates.js';
import { closedLoop, generator } from '../harness/closed-loop.js';
import { inTurn, killUnderLoad } from '../harness/closed-loop-rounds.js';
import { openLoop } from '../harness/open-loop.js';
import { probe } from '../harness/probe.js';
import { refusalOf } from '../harness/refusal.js';
import { Server } from '../harness/server.js';
import { ratios } from '../harness/statistics.js';

const CONNECTIONS = 64;
/** Of the peak rate. */
const SHARE = 0.7;

interface Sample {
  /** Answers a second of the closed loop before, and requests a second of the open one. */
  readonly peak: number;
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly refused: string | undefined;
}

export const latency: Bench = {
  name: 'latency',
  about: 'latency at a fixed rate, 70 % of the peak, against the Koa echo at its own 70 %',
  async missing() {
    return generator.name === 'wrk'
      ? undefined
      : 'there is no wrk, and autocannon takes too much of the machine to pace';
  },
  async run(settings) {
    const candidates = [onSqlite, koaEcho];
    const samplesOf = await inTurn(
      candidates,
      settings,
      (candidate) => round(candidate, settings),
      ({ rate, p99, refused }) => refused ?? `99 of 100 within ${p99.toFixed(2)} ms at ${rate}/s`,
    );
    const refusedOf = (candidate: Candidate) => samplesOf(candidate).find(({ refused }) => refused)?.refused;
    const [ours, echo] = candidates.map((candidate) => samplesOf(candidate).map(({ p99 }) => p99));
    return {
      title: 'Latency at a fixed rate',
      how: 'Open loop: requests are sent at 70 % of the rate that a closed loop of 64 connections reached just before, whether answers come or not. Latency counts from the moment at which a request was to be sent, so that a stall meets all that it delays (no coordinated omission). Requests are due at each millisecond, as many as the rate makes of it.',
      tables: [
        {
          head: 'program',
          columns: COLUMNS,
          rows: candidates.map((candidate) => ({
            name: candidate.name,
            cells: Object.fromEntries(
              COLUMNS.map(({ key }) => [key, samplesOf(candidate).map((sample) => sample[key])]),
            ),
            refused: refusedOf(candidate),
          })),
        },
      ],
      ratios: [
        {
          work: 'p99 at 70 % of the peak rate, open loop: against the Koa echo at its own 70 %',
          samples: ratios(ours ?? [], echo ?? []),
          atMost: 2,
          refused: refusedOf(onSqlite) ?? refusedOf(koaEcho),
        },
      ],
    };
  },
};

const COLUMNS = [
  { key: 'peak', title: 'peak, answers/s', digits: 0 },
  { key: 'rate', title: 'sent, requests/s', digits: 0 },
  { key: 'p50', title: 'median, ms', digits: 2 },
  { key: 'p99', title: '99 of 100, ms', digits: 2 },
  { key: 'p999', title: '999 of 1000, ms', digits: 2 },
] as const satisfies readonly Column[];

async function round(candidate: Candidate, { folder, loadSeconds, warmUpSeconds }: Settings): Promise<Sample> {
  const store = await candidate.storage?.create(folder);
  try {
    const server = await Server.start(candidate, store, folder);
    try {
      await probe(server.port);
      const warmUp = await closedLoop(server.port, CONNECTIONS, warmUpSeconds);
      const peak = await closedLoop(server.port, CONNECTIONS, Math.ceil(loadSeconds / 2));
      const rate = Math.round(peak.rate * SHARE);
      const open = await openLoop(server.port, rate, { seconds: loadSeconds, warmUpSeconds });
      const killed = await killUnderLoad(server, CONNECTIONS);
      const rows = candidate.storage && (await store?.rows());
      // The plant that was looked at is a row too.
      const refused = refusalOf([warmUp, peak, open], killed, rows && rows - 1);
      const { p50Ms: p50, p99Ms: p99, p999Ms: p999 } = open;
      return { peak: peak.rate, rate, p50, p99, p999, refused };
    } finally {
      await server.kill();
    }
  } finally {
    await store?.drop();
  }
}
