import { expect } from 'chai';
import { exchange, request, serve } from '../../support/client.js';
import type { TestStore } from '../../support/engines.js';
import type { Program } from '../../support/executable.js';
import { waitUntil } from '../../support/wait-until.js';
import { conclusive } from '../history.js';
import { CLIENTS, Load } from '../load.js';

/** `STORAGE_TIMEOUT` for faults whose first creates wait for it, and for those during which no create may. */
const [SHORT_TIMEOUT_MS, LONG_TIMEOUT_MS] = [1000, 60_000];

/** A fault of the storage, and what creates get meanwhile. */
export interface Fault {
  /**
   * - `succeed`: 200 or 409
   * - `succeed or fail`: 200, 409 or 503
   * - `fail at once`: 503, long before the timeout
   * - `fail`: 503, the first ones after the timeout, then at once
   */
  readonly creates: 'succeed' | 'succeed or fail' | 'fail at once' | 'fail';
  inject(service: Program): unknown;
  heal?(): unknown;
}

/** Runs a load before, during and after a fault, and expects that creates and readiness recover and nothing is lost. */
export async function expectRecovery(fault: Fault, folder: string, store: TestStore, url = store.url): Promise<void> {
  const { creates, inject, heal } = fault;
  const timeoutMs = ['fail', 'succeed or fail'].includes(creates) ? SHORT_TIMEOUT_MS : LONG_TIMEOUT_MS;
  const settings = { STORAGE_TIMEOUT: `${timeoutMs}ms`, MANAGEMENT_PORT: '0', LOG_LEVEL: 'fatal' };
  // SQLite retries broken locks for 10 s, during which node:sqlite blocks the event loop.
  const service = serve(folder, { DATABASE_URL: url, HEADERS_TIMEOUT: '30s', ...settings });
  const [port, managementPort] = [await service.port(), await service.managementPort()];
  const waitForReadiness = (expected: '200 ok' | '503 unavailable') =>
    waitUntil(`/readyz returns ${expected}`, async () => {
      const response = await exchange(managementPort, request('GET /readyz'));
      const { checks }: { checks?: { storage?: string } } = Object(response?.json());
      return `${response?.status} ${checks?.storage}` === expected;
    });
  const load = await Load.on(port, 3 * CLIENTS);
  if (creates === 'fail' || creates === 'fail at once') {
    const before = load.history.length;
    await inject(service);
    await load.waitForOutcomes(10 * CLIENTS, 50301);
    const latencies = load.history.slice(before).map(({ sentAt, endedAt }) => endedAt - sentAt);
    // Only the first ones wait for the timeout.
    const [limitMs, share] = creates === 'fail' ? [SHORT_TIMEOUT_MS - 100, 0.5] : [LONG_TIMEOUT_MS / 2, 0];
    const slow = latencies.filter((latencyMs) => latencyMs >= limitMs);
    expect(slow.length / latencies.length).to.be.at.most(share);
    await waitForReadiness('503 unavailable');
    await load.stop();
    await heal?.();
    // Readiness does not need creates to recover.
    await waitForReadiness('200 ok');
    load.start(port);
  } else {
    for (let time = 0; time < 5; time++) {
      await inject(service);
      await load.waitForOutcomes(20, 200);
    }
  }
  await load.waitForOutcomes(3 * CLIENTS, 200);
  await load.expectNothingLost(port, store);
  expect([...conclusive, ...(creates === 'succeed' ? [] : [50301])]).to.include.members(load.outcomes());
  expect(await service.stop()).to.equal(0);
}
