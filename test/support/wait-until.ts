import { setTimeout } from 'node:timers/promises';

const DEFAULT_TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 50;

/** Polls until `condition` holds; throws after `timeoutMs`. */
export async function waitUntil(
  description: string,
  condition: () => Promise<boolean>,
  timeoutMs: number = DEFAULT_TIMEOUT_MS,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`timed out after ${timeoutMs} ms: ${description}`);
    await setTimeout(POLL_INTERVAL_MS);
  }
}
