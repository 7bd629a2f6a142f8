import type { Contract } from '@plant-store/contract';
import { it } from 'mocha';

/** Defines one test per case of a contract, or of some of its groups. Call it inside `describe`. */
export function runContract({ cases }: Contract, isIncluded: (group: string) => boolean = () => true): void {
  for (const { name, timeoutMs, run } of cases.filter((each) => isIncluded(each.group)))
    it(name, run).timeout(timeoutMs);
}
