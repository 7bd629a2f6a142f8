import { it } from 'mocha';
import type { ContractCase } from '../contract/index.js';

/** One test for each promise of a contract. Call it inside `describe`. */
export function runContract<Harness>(contract: readonly ContractCase<Harness>[], harness: Harness): void {
  for (const promise of contract) it(promise.name, () => promise.run(harness));
}
