import { setTimeout } from 'node:timers/promises';
import type { Engine } from './engine.js';

/** How long to wait before what was busy is tried again, in milliseconds. */
const PAUSE_MS = 10;

/** Does `work` again as long as others are in its way, up to `timeoutMs` milliseconds. */
export async function whileBusy<T>(engine: Engine, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (engine.diagnose(error) !== 'busy' || performance.now() > deadline) throw error;
      await setTimeout(PAUSE_MS);
    }
  }
}
