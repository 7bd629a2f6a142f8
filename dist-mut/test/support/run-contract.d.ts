import type { ContractCase } from '../contract/index.js';
/** One test for each promise of a contract. Call it inside `describe`. */
export declare function runContract<Harness>(contract: readonly ContractCase<Harness>[], harness: Harness): void;
//# sourceMappingURL=run-contract.d.ts.map