import { it } from 'mocha';
/** One test for each promise of a contract. Call it inside `describe`. */
export function runContract(contract, harness) {
    for (const promise of contract)
        it(promise.name, () => promise.run(harness));
}
//# sourceMappingURL=run-contract.js.map