import { Agent } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import type { Settings } from './bench.js';
import type { IdOrder } from './bulk.js';
import type { Candidate } from './candidates.js';
import { createOne, type Pace, runLoad } from './load.js';
import { checkRun } from './run-check.js';
import { type Server, startServer } from './server.js';
import { sum } from './statistics.js';
import { sqliteFile } from './stores.js';

/** What a round does to a program. */
export interface Load {
  readonly connections: number;
  readonly ids?: IdOrder;
  /** SQLite file to use and keep, instead of an empty store. */
  readonly file?: string;
  /** After a closed loop, measures an open loop at this fraction of its rate. */
  readonly peakFraction?: number;
  /** Counts syncs. On SQLite, also delays each. */
  readonly syncDelayMs?: number;
}

/**
 * Runs one round of one program: start, one checked create, warm-up, measured load, and `kill -9` under a last load.
 * Then compares the rows in its store with its responses.
 */
export async function runRound(
  candidate: Candidate,
  { connections, ids = 'ascending', file, peakFraction, syncDelayMs }: Load,
  { folder, loadSeconds, warmUpSeconds }: Settings,
) {
  const store = file === undefined ? await candidate.storage?.create(folder) : sqliteFile(file);
  const syncCount = store && syncDelayMs !== undefined ? store.countSyncs(folder, syncDelayMs) : undefined;
  let server: Server | undefined;
  try {
    server = await startServer(candidate, store, folder, syncCount?.command);
    const { port } = server;
    await createOne(port);
    const rowsBefore = (await store?.rows()) ?? 0;
    const syncsBefore = await syncCount?.read();
    const load = (seconds: number, pace?: Pace) => runLoad(port, seconds, { connections, ids, pace });

    const warmUp = await load(warmUpSeconds);
    const peak = peakFraction === undefined ? undefined : await load(Math.ceil(loadSeconds / 2));
    const pace = peak && { rate: Math.round(peak.rate * (peakFraction ?? 1)), warmUpSeconds };
    const cpuMsBefore = server.cpuMs();
    const measured = await load(loadSeconds, pace);
    const cpuMs = server.cpuMs() - cpuMsBefore;
    const memoryMib = server.peakMemoryMib();
    const last = load(1);
    await setTimeout(500); // To kill the program under load.
    await server.kill();
    const killed = await last;

    const whole = [warmUp, ...(peak ? [peak] : []), measured];
    const rows = store && (await store.rows()) - rowsBefore;
    const responses = sum([...whole, killed], (result) => result.responses);
    const syncsAfter = await syncCount?.read();
    const syncs = syncsBefore && syncsAfter && syncsAfter.syncs - syncsBefore.syncs;
    checkRun(whole, killed, rows);
    return {
      ...{ ...measured, rate: pace?.rate ?? measured.rate, peak: peak?.rate },
      cpuUs: (cpuMs * 1000) / measured.responses,
      memoryMib,
      syncs: syncs && syncs / responses,
      responsesPerSync: syncs && responses / syncs,
      syncMs: syncs && (syncsAfter.totalMs - syncsBefore.totalMs) / syncs,
    };
  } finally {
    await server?.kill();
    await store?.drop?.();
  }
}

/** Returns the time from the start of a program to its first response, with a new SQLite file. */
export async function msToFirstResponse(candidate: Candidate, folder: string): Promise<number> {
  const store = await candidate.storage?.create(folder);
  const beganMs = performance.now();
  const server = await startServer(candidate, store, folder);
  try {
    await createOne(server.port);
    return performance.now() - beganMs;
  } finally {
    await server.kill();
  }
}

/** Returns by how much 1,000 idle connections increase the memory of a program. */
export async function mibPerThousandConnections(candidate: Candidate, folder: string): Promise<number> {
  const server = await startServer(candidate, await candidate.storage?.create(folder), folder);
  const agent = new Agent({ keepAlive: true, maxFreeSockets: Infinity });
  const memoryMibWith = async (connections: number) => {
    // Requests at the same time need a connection each.
    await Promise.all(Array.from({ length: connections }, () => createOne(server.port, agent)));
    await setTimeout(2000);
    const { length } = Object.values(agent.freeSockets).flat();
    if (length !== connections) throw new Error(`${candidate.name} kept ${length} of ${connections} connections open`);
    return server.memoryMib();
  };
  try {
    const before = await memoryMibWith(1000);
    return ((await memoryMibWith(4000)) - before) / 3;
  } finally {
    agent.destroy();
    await server.kill();
  }
}
