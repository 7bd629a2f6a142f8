import type { Bench, Figures, Target } from '../harness/bench.js';
import * as programs from '../harness/candidates.js';
import { mibPerThousandConnections, runRound } from '../harness/round.js';

/** Compares the service with other programs, under a closed loop. */
function closedLoop(
  name: string,
  connections: number,
  how: string,
  ours: programs.Candidate,
  others: readonly (readonly [candidate: programs.Candidate, atLeast?: number, name?: string])[],
  ratios: readonly Target[] = [],
): Bench {
  const title = `${ours.storage?.name}, ${connections} client${connections === 1 ? '' : 's'}`;
  const rateRatios = others.map(([{ name: against }, atLeast, shown = against]): Target => {
    return { work: `${title}: relative to ${shown}`, of: ours.name, against, atLeast };
  });
  return {
    name,
    title,
    how: `Closed loop, ${connections} connection${how}`,
    prepare: (settings) => [
      {
        head: 'program',
        columns: [
          { key: 'rate', title: 'requests/s', digits: 0 },
          { key: 'cpuUs', title: 'processor, µs/request', digits: 1 },
          { key: 'syncs', title: 'syncs/request', digits: 3 },
          { key: 'p50Ms', title: 'median, ms', digits: 1 },
          { key: 'p99Ms', title: 'p99, ms', digits: 1 },
          { key: 'memoryMib', title: 'peak memory, MiB', digits: 0 },
        ],
        contenders: [ours, ...others.map(([candidate]) => candidate)].map((candidate) => [
          candidate.name,
          async () => {
            const figures = await runRound(candidate, { connections }, settings);
            if (!candidate.storage) return figures;
            // In a short run of its own, because tracing is slow.
            const short = { ...settings, loadSeconds: settings.warmUpSeconds };
            const { syncs } = await runRound(candidate, { connections, syncDelayMs: 0 }, short);
            return { ...figures, syncs };
          },
        ]),
        ratios: [...rateRatios, ...ratios],
      },
    ],
  };
}

const { onSqlite, onPostgres, onMariadb, onMemory, koaEcho, koaKnexSqlite, koaKnexPg, koaKnexMysql } = programs;
const { onSqlite3, onNodeSqlite } = programs;
const SAME_SERVICE = 'the same service on `memory:`';
const SAME_MACHINE =
  'runs on the same machine. The table excludes its processor time and includes all syncs that it counts.';

/** The service on each engine, compared with the same service in memory and other programs. */
export const onEngines: readonly Bench[] = [
  closedLoop(
    'sqlite',
    64,
    's. Programs that store plants use SQLite with a write-ahead log and `synchronous=FULL`.',
    onSqlite,
    [
      [onMemory, 0.9, SAME_SERVICE],
      [koaEcho, 1, 'the Koa echo'],
      [programs.fastify, 2.2],
      [programs.feathers, 7, 'Feathers'],
      [koaKnexSqlite],
    ],
    [
      {
        work: `peak memory under load: relative to ${koaKnexSqlite.name}`,
        ...{ key: 'memoryMib', of: onSqlite.name, against: koaKnexSqlite.name, atMost: 1.2 },
      },
    ],
  ),
  closedLoop('one-client', 1, ', so each plant requires its own sync.', onSqlite, [[koaKnexSqlite, 0.95]]),
  closedLoop('postgres', 64, `s. PostgreSQL ${SAME_MACHINE}`, onPostgres, [
    [onMemory, 0.65, SAME_SERVICE],
    [koaKnexPg, 2.5],
  ]),
  closedLoop('mariadb', 64, `s. MariaDB ${SAME_MACHINE}`, onMariadb, [
    [onMemory, 0.55, SAME_SERVICE],
    [koaKnexMysql, 2],
  ]),
  closedLoop(
    'node-sqlite',
    64,
    's. Node 24 runs both programs.',
    onNodeSqlite,
    [[onSqlite3, 0.9]],
    [
      {
        work: `node:sqlite, 64 clients: p99 relative to ${onSqlite3.name}`,
        ...{ key: 'p99Ms', of: onNodeSqlite.name, against: onSqlite3.name, atMost: 1.3 },
      },
    ],
  ),
  closedLoop('node-sqlite-one-client', 1, '. Node 24 runs both programs.', onNodeSqlite, [[onSqlite3, 1]]),
];

const CLIENTS = [1, 4, 16, 64, 256];

export const clients: Bench = {
  name: 'clients',
  title: 'Rate by number of clients',
  how: 'Requests per second in a closed loop, after one second of warm-up. Every program stores its plants in SQLite with a write-ahead log and `synchronous=FULL`.',
  prepare: (settings) => [
    {
      head: 'program',
      columns: CLIENTS.map((count) => ({ key: `${count}`, title: `${count}`, digits: 0 })),
      contenders: [onSqlite, programs.fastify, koaKnexSqlite, programs.feathers].map((candidate) => [
        candidate.name,
        async () => {
          const rates: Record<string, number> = {};
          for (const connections of CLIENTS) {
            const short = { ...settings, warmUpSeconds: 1, loadSeconds: settings.loadSeconds / 2 };
            rates[connections] = (await runRound(candidate, { connections }, short)).rate;
          }
          return rates;
        },
      ]),
    },
  ],
};

export const idle: Bench = {
  name: 'idle',
  title: 'Idle connections',
  how: 'Growth of resident memory, per 1,000 connections, while 3,000 connections are opened in addition to 1,000. Each connection creates one plant and stays open. Memory is read two seconds later.',
  prepare: ({ folder, quick }) => [
    {
      head: 'program',
      columns: [{ key: 'mib', title: 'MiB per 1,000 connections', digits: 1 }],
      rounds: quick ? 1 : 5,
      contenders: [onSqlite, programs.fastify, koaEcho].map((candidate) => [
        candidate.name,
        async (): Promise<Figures> => ({ mib: await mibPerThousandConnections(candidate, folder) }),
      ]),
    },
  ],
};

export const latency: Bench = {
  name: 'latency',
  title: 'Latency at a fixed rate',
  how: 'Open loop: requests are sent at 70 % of the rate that a closed loop of 64 connections reached immediately before, regardless of responses. Latency counts from the scheduled time of a request, so that a stall affects every request that it delays (no coordinated omission). Requests are scheduled at whole milliseconds.',
  prepare: (settings) => [
    {
      head: 'program',
      columns: [
        { key: 'peak', title: 'peak, requests/s', digits: 0 },
        { key: 'rate', title: 'sent, requests/s', digits: 0 },
        { key: 'p50Ms', title: 'median, ms', digits: 2 },
        { key: 'p99Ms', title: 'p99, ms', digits: 2 },
        { key: 'p999Ms', title: 'p99.9, ms', digits: 2 },
      ],
      contenders: [onSqlite, koaEcho].map((candidate) => [
        candidate.name,
        () => runRound(candidate, { connections: 64, peakFraction: 0.7 }, settings),
      ]),
      ratios: [
        {
          work: 'p99 at 70 % of the peak rate, open loop: relative to the Koa echo at 70 % of its own peak',
          ...{ key: 'p99Ms', of: onSqlite.name, against: koaEcho.name, atMost: 2 },
        },
      ],
    },
  ],
};
