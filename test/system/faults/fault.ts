import { expect } from 'chai';
import type { TestStore } from '../../support/engines.js';
import type { Program } from '../../support/executable.js';
import { exchange, request } from '../../support/raw-http.js';
import { waitUntil } from '../../support/wait-until.js';
import { conclusive } from '../history.js';
import { CLIENTS, Load } from '../load.js';

/** `STORAGE_TIMEOUT` for faults whose first creates wait for it. */
const SHORT_TIMEOUT_MS = 1000;
/** `STORAGE_TIMEOUT` for faults during which no create may wait for it. */
const LONG_TIMEOUT_MS = 60_000;

/** A fault of the storage, and what creates get meanwhile. */
export interface Fault {
  /** The title of the test. */
  readonly title: string;
  /**
   * - `succeed`: 200 or 409
   * - `succeed or fail`: 200, 409 or 503
   * - `fail at once`: 503, long before the timeout
   * - `fail`: 503, the first ones after the timeout, then at once
   */
  readonly creates: 'succeed' | 'succeed or fail' | 'fail at once' | 'fail';
  inject(): unknown;
  heal?(): unknown;
}

/** Returns the settings of the service for a fault. */
export function settingsFor({ creates }: Fault): Readonly<Record<string, string>> {
  const timeoutMs = creates === 'fail' || creates === 'succeed or fail' ? SHORT_TIMEOUT_MS : LONG_TIMEOUT_MS;
  return { STORAGE_TIMEOUT: `${timeoutMs}ms`, MANAGEMENT_PORT: '0', LOG_LEVEL: 'fatal' };
}

/** Runs a load before, during and after a fault, and expects that creates and readiness recover and nothing is lost. */
export async function expectRecovery(service: Program, store: TestStore, fault: Fault): Promise<void> {
  const { creates, inject, heal } = fault;
  const [port, managementPort] = [await service.port(), await service.managementPort()];
  const load = await Load.on(port, 3 * CLIENTS);
  if (creates === 'fail' || creates === 'fail at once') {
    const before = load.history.length;
    await inject();
    await load.waitForOutcomes(10 * CLIENTS, 50301);
    const latencies = load.history.slice(before).map(({ sentAt, endedAt }) => endedAt - sentAt);
    const limitMs = creates === 'fail' ? SHORT_TIMEOUT_MS - 100 : LONG_TIMEOUT_MS / 2;
    const slow = latencies.filter((latencyMs) => latencyMs >= limitMs);
    // Only the first ones wait for the timeout.
    expect(slow.length / latencies.length).to.be.at.most(creates === 'fail' ? 0.5 : 0);
    await waitForReadiness(managementPort, '503 unavailable');
    await load.stop();
    await heal?.();
    // Readiness does not need creates to recover.
    await waitForReadiness(managementPort, '200 ok');
    load.start(port);
  } else {
    for (let time = 0; time < 5; time++) {
      await inject();
      await load.waitForOutcomes(20, 200);
    }
  }
  await load.waitForOutcomes(3 * CLIENTS, 200);
  await load.expectNothingLost(port, store);
  expect([...conclusive, ...(creates === 'succeed' ? [] : [50301])]).to.include.members(load.outcomes());
  expect(await service.stop()).to.equal(0);
}

/** Waits until `GET /readyz` has this status and this state of the storage. */
function waitForReadiness(managementPort: number, expected: '200 ok' | '503 unavailable'): Promise<void> {
  return waitUntil(`/readyz returns ${expected}`, async () => {
    const response = await exchange(managementPort, request('GET /readyz'));
    const { checks }: { checks?: { storage?: string } } = Object(response?.json());
    return `${response?.status} ${checks?.storage}` === expected;
  });
}
