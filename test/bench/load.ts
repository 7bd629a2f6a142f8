import { exec } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { inRepository } from '../support/paths.js';
import type { Figures } from './compare.js';
import { type Server, TOKEN } from './programs.js';

/** The first id of a load. */
const FIRST_ID = 1e9;

let loads = 0;

/** A running program under load, and what it has acknowledged. */
export class LoadedServer {
  readonly #server: Server;
  #responses = 0;
  /** Creates that may have no response, because the load ended: one for each connection. */
  #inFlight = 0;

  constructor(server: Server) {
    this.#server = server;
  }

  /** Returns the figures of a load. */
  async measure(connections: number, seconds: number): Promise<Figures> {
    const cpuMs = this.#server.cpuMs();
    const { responses, broken, rate } = await this.#run(connections, seconds);
    if (broken > 0) throw new Error('connections broke or requests timed out');
    const cpuUs = ((this.#server.cpuMs() - cpuMs) * 1000) / responses;
    return { [`${connections}, creates/s`]: rate, [`${connections}, µs`]: cpuUs };
  }

  /** Kills the program under load. Then checks that the store has every acknowledged plant, and no more than were sent. */
  async kill(): Promise<void> {
    const { store } = this.#server;
    const last = this.#run(64, 1);
    await setTimeout(500);
    await this.#server.kill();
    await last;
    const plants = await store.readPlants();
    const stored = plants.filter(({ id }) => id >= FIRST_ID).length;
    if (stored < this.#responses || stored > this.#responses + this.#inFlight)
      throw new Error(`${stored} plants for ${this.#responses} responses and ${this.#inFlight} in flight`);
    await this.#server.removeStore();
  }

  /** Creates plants in a closed loop: each connection of wrk sends the next request when it has the response. */
  async #run(connections: number, seconds: number): Promise<{ responses: number; broken: number; rate: number }> {
    const url = `http://127.0.0.1:${this.#server.port}/plants`;
    const wrk = `wrk -t1 -c${connections} -d${seconds}s --timeout 10s -s load.lua ${url} -- ${TOKEN} ${++loads * FIRST_ID}`;
    const { stdout } = await promisify(exec)(wrk, { cwd: inRepository('test/bench') });
    const load = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    if (load.failures > 0 || load.responses === 0) throw new Error(`responses were not 200: ${stdout}`);
    this.#responses += load.responses;
    this.#inFlight += connections;
    return load;
  }
}
