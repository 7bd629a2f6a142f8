import { exec } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { inRepository } from '../support/paths.js';
import type { Figures } from './compare.js';
import { type Contender, PORT, startServer, TOKEN } from './programs.js';

/** What wrk counts, and its number of connections. */
interface LoadResult {
  readonly responses: number;
  /** Responses with an error status. */
  readonly failures: number;
  /** Broken connections, and requests that timed out. */
  readonly broken: number;
  readonly rate: number;
  readonly p99Ms: number;
  readonly connections: number;
}

/** Duration of the measured load, in seconds. */
const LOAD_SECONDS = 3;
/** The first id of a load. */
const FIRST_ID = 1e9;

let loads = 0;

/** Creates plants in a closed loop: each connection sends the next request when it has the response. */
async function runLoad(connections: number, seconds: number): Promise<LoadResult> {
  const wrk = `wrk -t1 -c${connections} -d${seconds}s --timeout 10s -s load.lua http://127.0.0.1:${PORT}/plants`;
  const command = `${wrk} -- ${TOKEN} ${++loads * FIRST_ID}`;
  const { stdout } = await promisify(exec)(command, { cwd: inRepository('test/bench') });
  return { ...JSON.parse(stdout.trim().split('\n').at(-1) ?? ''), connections };
}

/**
 * Returns a measure of one round: start, warm-up, measured load, and `kill -9` within a last load. Then checks that the
 * store has every plant that was acknowledged.
 */
export function measureLoad(connections: number) {
  return async (contender: Contender): Promise<Figures> => {
    const server = await startServer(contender);
    // With many clients, so that V8 has compiled the program when few are measured.
    const warmUp = await runLoad(64, 2);
    const cpuMs = server.cpuMs();
    const measured = await runLoad(connections, LOAD_SECONDS);
    const cpuUs = ((server.cpuMs() - cpuMs) * 1000) / measured.responses;
    const last = runLoad(connections, 1);
    await setTimeout(500);
    await server.kill();
    const stored = contender.store === 'none' ? undefined : await server.store.readPlants();
    checkRound([warmUp, measured], await last, stored?.filter(({ id }) => id >= FIRST_ID).length);
    const { rate, p99Ms } = measured;
    return { 'requests/s': rate, 'processor, µs/request': cpuUs, 'p99, ms': p99Ms };
  };
}

/**
 * Throws if the figures of a round are not valid: every acknowledged plant is stored, and no more than those and one per
 * connection of each load, whose response had not arrived at its end.
 *
 * @param rows `undefined` for a program that stores nothing
 */
export function checkRound(whole: readonly LoadResult[], killed: LoadResult, rows: number | undefined): void {
  const sum = (key: keyof LoadResult) => [...whole, killed].reduce((total, load) => total + load[key], 0);
  const [responses, failures, inFlight] = [sum('responses'), sum('failures'), sum('connections')];
  if (failures > 0) throw new Error(`${failures} responses were not 200`);
  if (whole.some((load) => load.broken > 0)) throw new Error('connections broke or requests timed out');
  if (whole.some((load) => load.responses === 0)) throw new Error('a load got no response');
  if (rows === undefined) return;
  if (rows < responses) throw new Error(`${responses - rows} of ${responses} acknowledged plants are missing`);
  if (rows > responses + inFlight)
    throw new Error(`${rows} plants for ${responses} responses and ${inFlight} in flight`);
}
