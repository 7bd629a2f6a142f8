import { cpus } from 'node:os';
import type { Bench, Column, Settings } from '../harness/bench.js';
import { onPostgres } from '../harness/candidates.js';
import { type ClosedLoop, closedLoop } from '../harness/closed-loop.js';
import { inTurn, killUnderLoad } from '../harness/closed-loop-rounds.js';
import { probe } from '../harness/probe.js';
import { checkRun } from '../harness/run-check.js';
import { Server } from '../harness/server.js';
import { ratios } from '../harness/statistics.js';
import { postgres } from '../harness/stores.js';

/** Total connections to all instances. */
const CONNECTIONS = 64;

/** A number of instances on one database. */
interface Case {
  readonly name: string;
  readonly instances: number;
}

interface Sample {
  readonly rate: number;
  readonly cpuUs: number;
  /** Processors that the instances kept busy. */
  readonly serviceCores: number;
  /** Processors that were busy in total, including with the load generators and the database. */
  readonly busyCores: number;
  readonly invalidReason: string | undefined;
}

export const instances: Bench = {
  name: 'instances',
  about: `one and two instances on PostgreSQL under ${CONNECTIONS} clients`,
  missing: async () => ((await postgres.isAvailable()) ? undefined : 'PostgreSQL is unavailable'),
  async run(settings) {
    const [one, two] = [
      { name: 'one instance', instances: 1 },
      { name: 'two instances', instances: 2 },
    ];
    const samplesOf = await inTurn(
      [one, two],
      settings,
      (current) => round(current, settings),
      ({ rate, busyCores, invalidReason }) =>
        invalidReason ?? `${Math.round(rate)} requests/s, ${busyCores.toFixed(2)} busy processors`,
    );
    const rates = (current: Case) => samplesOf(current).map(({ rate }) => rate);
    const invalidReason = [one, two].flatMap(samplesOf).find((sample) => sample.invalidReason)?.invalidReason;
    return {
      title: 'Instances on one machine',
      how: `Closed loop, ${CONNECTIONS} connections, divided among the instances, with one load generator each. The load generators and PostgreSQL run on the same machine, with ${cpus().length} processors.`,
      tables: [
        {
          head: 'run',
          columns: COLUMNS,
          rows: [one, two].map((current) => ({
            name: current.name,
            cells: {
              rate: rates(current),
              cpuUs: samplesOf(current).map(({ cpuUs }) => cpuUs),
              serviceCores: samplesOf(current).map(({ serviceCores }) => serviceCores),
              busyCores: samplesOf(current).map(({ busyCores }) => busyCores),
            },
            invalidReason,
          })),
        },
      ],
      ratios: [
        {
          work: 'two instances on PostgreSQL: relative to one',
          samples: ratios(rates(two), rates(one)),
          invalidReason,
        },
      ],
    };
  },
};

const COLUMNS: readonly Column[] = [
  { key: 'rate', title: 'requests/s', digits: 0 },
  { key: 'cpuUs', title: 'processor of the instances, µs/request', digits: 1 },
  { key: 'serviceCores', title: 'processors busy with the instances', digits: 2 },
  { key: 'busyCores', title: 'processors busy in total', digits: 2 },
];

async function round({ instances }: Case, { folder, loadSeconds, warmUpSeconds }: Settings): Promise<Sample> {
  const store = await postgres.create(folder);
  const servers: Server[] = [];
  try {
    for (let started = 0; started < instances; started++) servers.push(await Server.start(onPostgres, store, folder));
    const connections = CONNECTIONS / instances;
    const loadAll = (seconds: number) => Promise.all(servers.map(({ port }) => closedLoop(port, connections, seconds)));
    const cpuMs = () => sum(servers.map((server) => server.cpuMs()));
    const [first] = servers;
    if (first) await probe(first.port);
    const warmUp = await loadAll(warmUpSeconds);
    const [cpuBefore, busyBefore, beganMs] = [cpuMs(), busyMs(), performance.now()];
    const measured = await loadAll(loadSeconds);
    const elapsedMs = performance.now() - beganMs;
    const [serviceMs, totalMs] = [cpuMs() - cpuBefore, busyMs() - busyBefore];
    const killed = merge(await Promise.all(servers.map((server) => killUnderLoad(server, connections))));
    return {
      rate: sum(measured.map(({ rate }) => rate)),
      cpuUs: (serviceMs * 1000) / sum(measured.map(({ responses }) => responses)),
      serviceCores: serviceMs / elapsedMs,
      busyCores: totalMs / elapsedMs,
      // The checked create also has a row.
      invalidReason: checkRun([...warmUp, ...measured], killed, (await store.rows()) - 1),
    };
  } finally {
    await Promise.all(servers.map((server) => server.kill()));
    await store.drop();
  }
}

/** Adds up the counts of concurrent loads. */
function merge(loads: readonly ClosedLoop[]) {
  const total = (count: (load: ClosedLoop) => number) => sum(loads.map(count));
  return {
    responses: total(({ responses }) => responses),
    failures: total(({ failures }) => failures),
    broken: total(({ broken }) => broken),
    connections: total(({ connections }) => connections),
  };
}

/** Returns the total time that the processors of the machine have been busy. */
function busyMs(): number {
  return sum(cpus().map(({ times: { user, nice, sys, irq } }) => user + nice + sys + irq));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
