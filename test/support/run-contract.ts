import { it } from 'mocha';
import type { ContractCase } from '../contract/index.js';

/** Defines one test per contract case. Call it inside `describe`. */
export function runContract<Harness>(contract: readonly ContractCase<Harness>[], harness: Harness): void {
  for (const { name, timeoutMs, run } of contract) it(name, () => run(harness)).timeout(timeoutMs);
}
