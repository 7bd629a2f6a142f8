import { setTimeout } from 'node:timers/promises';

const TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 50;

/** Polls until `condition` holds; throws after a minute. */
export async function waitUntil(description: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`timed out: ${description}`);
    await setTimeout(POLL_INTERVAL_MS);
  }
}
