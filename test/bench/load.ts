import { exec } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { inRepository } from '../support/paths.js';
import type { Figures } from './compare.js';
import { type Server, TOKEN } from './programs.js';

/** What wrk counts, and its number of connections. */
interface LoadResult {
  readonly responses: number;
  /** Responses with an error status. */
  readonly failures: number;
  /** Broken connections, and requests that timed out. */
  readonly broken: number;
  readonly rate: number;
  readonly connections: number;
}

/** The first id of a load. */
const FIRST_ID = 1e9;

let loads = 0;

/** A running program under load, and what it has acknowledged. */
export class LoadedServer {
  readonly #server: Server;
  readonly #whole: LoadResult[] = [];

  constructor(server: Server) {
    this.#server = server;
  }

  /** Returns the figures of a load. Its last connections' worth of plants may have no response. */
  async measure(connections: number, seconds: number): Promise<Figures> {
    const cpuMs = this.#server.cpuMs();
    const load = await this.#run(connections, seconds);
    this.#whole.push(load);
    const cpuUs = ((this.#server.cpuMs() - cpuMs) * 1000) / load.responses;
    return { [`${connections}, creates/s`]: load.rate, [`${connections}, µs`]: cpuUs };
  }

  /** Kills the program under load. Then checks that the store has every plant that was acknowledged. */
  async kill(): Promise<void> {
    const { store } = this.#server;
    const last = this.#run(64, 1);
    await setTimeout(500);
    await this.#server.kill();
    const stored = await store?.readPlants();
    checkLoads(this.#whole, await last, stored?.filter(({ id }) => id >= FIRST_ID).length);
    await this.#server.removeStore();
  }

  /** Creates plants in a closed loop: each connection sends the next request when it has the response. */
  async #run(connections: number, seconds: number): Promise<LoadResult> {
    const url = `http://127.0.0.1:${this.#server.port}/plants`;
    const wrk = `wrk -t1 -c${connections} -d${seconds}s --timeout 10s -s load.lua ${url} -- ${TOKEN} ${++loads * FIRST_ID}`;
    const { stdout } = await promisify(exec)(wrk, { cwd: inRepository('test/bench') });
    return { ...JSON.parse(stdout.trim().split('\n').at(-1) ?? ''), connections };
  }
}

/**
 * Throws if the figures of a program are not valid: every acknowledged plant is stored, and no more than those and one per
 * connection of each load, whose response had not arrived at its end.
 *
 * @param rows `undefined` for a program that stores nothing
 */
export function checkLoads(whole: readonly LoadResult[], killed: LoadResult, rows: number | undefined): void {
  const sum = (key: keyof LoadResult) => [...whole, killed].reduce((total, load) => total + load[key], 0);
  const [responses, failures, inFlight] = [sum('responses'), sum('failures'), sum('connections')];
  if (failures > 0) throw new Error(`${failures} responses were not 200`);
  if (whole.some((load) => load.broken > 0)) throw new Error('connections broke or requests timed out');
  if ([...whole, killed].some((load) => load.responses === 0)) throw new Error('a load got no response');
  if (rows === undefined) return;
  if (rows < responses) throw new Error(`${responses - rows} of ${responses} acknowledged plants are missing`);
  if (rows > responses + inFlight)
    throw new Error(`${rows} plants for ${responses} responses and ${inFlight} in flight`);
}
