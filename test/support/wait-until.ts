import { setTimeout } from 'node:timers/promises';

/** Polls until `condition` holds; throws after a minute. */
export async function waitUntil(description: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`timed out: ${description}`);
    await setTimeout(50);
  }
}
