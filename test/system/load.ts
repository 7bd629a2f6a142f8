import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { createRequest, RawClient, type RawResponse } from '../support/client.js';
import type { TestStore } from '../support/engines.js';
import type { TestPlant } from '../support/plants.js';
import { waitUntil } from '../support/wait-until.js';
import { conclusive, type Operation, violationsOf } from './history.js';

/** Number of concurrent clients. */
export const CLIENTS = 64;
/** How long a client waits before it retries. */
const RETRY_AFTER_MS = 20;

/** Clients that each create plants one after another, on one or more instances, and the history of their creates. */
export class Load {
  /** Every create that has ended, in order of its end. */
  readonly history: Operation[] = [];
  readonly #makePlant: (index: number) => TestPlant;
  readonly #events = new EventEmitter().setMaxListeners(0);
  #plants = 0;
  #sending: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  /** @param makePlant returns the plant with a given index */
  constructor(makePlant: (index: number) => TestPlant = somePlant) {
    this.#makePlant = makePlant;
  }

  /** Starts a load, and waits until it has created `count` plants. */
  static async on(port: number, count: number): Promise<Load> {
    const load = new Load();
    load.start(port);
    await load.waitForOutcomes(count, 200);
    return load;
  }

  /** Starts the clients, spread over the instances. Each sends until it is stopped or its connection ends. */
  start(...ports: readonly number[]): void {
    this.#isStopped = false;
    const clients = Array.from({ length: CLIENTS / ports.length }, () => ports.map((port) => this.#send(port)));
    this.#sending = Promise.all(clients.flat());
  }

  /** Stops every client after its current response, or after its connection has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#sending;
  }

  /** Waits for `count` more creates with the outcome. */
  async waitForOutcomes(count: number, outcome: unknown): Promise<void> {
    for (let seen = 0; seen < count; ) {
      const [operation]: Operation[] = await once(this.#events, 'operation');
      if (operation?.outcome === outcome) seen++;
    }
  }

  /** Returns the distinct outcomes. */
  outcomes(): unknown[] {
    return [...new Set(this.history.map(({ outcome }) => outcome))];
  }

  /** Returns the longest time without a 200 since a time of `performance.now()`, for docs/scale.md. */
  secondsWithout200(from: number): string {
    let [longest, last] = [0, from];
    for (const { outcome, endedAt } of this.history) {
      if (outcome !== 200 || endedAt < last) continue;
      longest = Math.max(longest, endedAt - last);
      last = endedAt;
    }
    return (longest / 1000).toFixed(1);
  }

  /** Retries every create whose outcome does not tell whether the plant is stored, until it does. */
  async retryUnknown(port: number): Promise<void> {
    await waitUntil('every retry has a conclusive outcome', async () => {
      const last = new Map(this.history.map(({ plant, outcome }) => [plant, outcome]));
      const unknown = [...last].filter(([, outcome]) => !conclusive.includes(outcome));
      const retry = async (plant: TestPlant) => {
        const client = await connect(port);
        await this.#create(plant, client);
        client?.close();
      };
      await Promise.all(unknown.map(([plant]) => retry(plant)));
      return unknown.length === 0;
    });
  }

  /** Expects the history to be consistent with the plants in the store. */
  expectNoViolations(stored: Iterable<TestPlant>): void {
    const violations = violationsOf(this.history, stored);
    const count = `${violations.length} violations in ${this.history.length} creates`;
    expect(violations.slice(0, 10), count).to.deep.equal([]);
  }

  /** Stops the load, retries every create with an unknown outcome, and expects an intact and consistent store. */
  async expectNothingLost(port: number, store: TestStore): Promise<void> {
    await this.stop();
    await this.retryUnknown(port);
    this.expectNoViolations(await store.readPlants());
    expect((await store.checkIntegrity?.()) ?? []).to.deep.equal([]);
  }

  async #send(port: number): Promise<void> {
    let client = await connect(port);
    let plant = this.#makePlant(this.#plants++);
    while (client && !this.#isStopped) {
      const response = await this.#create(plant, client);
      if (response === undefined) return;
      if (conclusive.includes(response.outcome)) plant = this.#makePlant(this.#plants++);
      else await setTimeout(RETRY_AFTER_MS);
      if (response.headers['connection'] === 'close') client = await connect(port);
    }
    client?.close();
  }

  async #create(plant: TestPlant, client: RawClient | undefined): Promise<RawResponse | undefined> {
    const sentAt = performance.now();
    const response = await client?.send(createRequest(plant)).readResponse();
    const operation: Operation = { plant, outcome: response?.outcome, sentAt, endedAt: performance.now() };
    this.history.push(operation);
    this.#events.emit('operation', operation);
    return response;
  }
}

function connect(port: number): Promise<RawClient | undefined> {
  return RawClient.connect(port).catch(() => undefined);
}
/**
 * Returns the plant with a given index. Ids are at both ends of int64 and around zero; texts contain characters that are
 * easily damaged. Of every eight plants, one duplicates an earlier plant and one conflicts with an earlier id.
 */
function somePlant(index: number): TestPlant {
  if (index % 8 === 6) return somePlant(index - 5);
  if (index % 8 === 7) return { ...somePlant(index - 5), name: `another ${index}` };
  const step = BigInt(index);
  const ids = [-(2n ** 63n) + step, 2n ** 63n - 1n - step, 2n ** 53n + step, -step];
  const id = ids[index % ids.length] ?? step;
  const plant = { id, name: `Ōhiʻa ${index} "lehua" \u{1F33A}\t e\u0301 ${'x'.repeat(index % 300)} ` };
  return index % 2 === 0 ? plant : { ...plant, tag: '' };
}
