import type { Bench, Column, Settings } from '../harness/bench.js';
import { type Candidate, koaEcho, onSqlite } from '../harness/candidates.js';
import { closedLoop } from '../harness/closed-loop.js';
import { inTurn, killUnderLoad } from '../harness/closed-loop-rounds.js';
import { openLoop } from '../harness/open-loop.js';
import { probe } from '../harness/probe.js';
import { refusalOf } from '../harness/refusal.js';
import { Server } from '../harness/server.js';
import { ratios } from '../harness/statistics.js';

const CONNECTIONS = 64;
/** Of the peak rate. */
const SHARE = 0.7;

/** Of the time, that the load generator may have been held up itself; beyond it the latency is not the program's. */
const PAUSED_PERCENT_MAX = 5;

interface Sample {
  /** Answers a second of the closed loop before, and requests a second of the open one. */
  readonly peak: number;
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly paused: number;
  readonly refused: string | undefined;
}

export const latency: Bench = {
  name: 'latency',
  about: 'latency at a fixed rate, 70 % of the peak, against the Koa echo at its own 70 %',
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
      how: 'Open loop: requests are sent at 70 % of the rate that a closed loop of 64 connections reached just before, whether answers come or not. Latency counts from the moment at which a request was to be sent, so that a stall meets all that it delays (no coordinated omission). The generator looks for answers every 0.1 ms. Where it was held up itself, for more than 1 ms, that is in the latencies too; above 5 % of the time there is no figure.',
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
  { key: 'paused', title: 'generator held up, % of the time', digits: 1 },
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
      const { p50Ms: p50, p99Ms: p99, p999Ms: p999, pausedPercent: paused } = open;
      // The plant that was looked at is a row too.
      const wrong = refusalOf([warmUp, peak, open], killed, rows && rows - 1);
      const heldUp =
        paused > PAUSED_PERCENT_MAX ? `the load generator was held up for ${paused.toFixed(1)} %` : undefined;
      const refused = wrong ?? heldUp;
      return { peak: peak.rate, rate, p50, p99, p999, paused, refused };
    } finally {
      await server.kill();
    }
  } finally {
    await store?.drop();
  }
}
