/** One promise of a port, as a test case for any test runner: it is kept where `run` resolves. */
export interface ContractCase<Harness> {
    /** The promise, as a sentence. */
    readonly name: string;
    /** @throws {BrokenPromise} or whatever the adapter throws, where the promise is not kept */
    run(harness: Harness): Promise<void>;
}
/** Says what an adapter should have done, and what it did. */
export declare class BrokenPromise extends Error {
    readonly name = "BrokenPromise";
}
/** Whether both are the same JSON; a bigint counts as one. */
export declare function assertEqual(actual: unknown, expected: unknown, what: string): void;
/** Whether `work` fails with an error of this class of the core, and says so by a promise. */
export declare function assertRejects(what: string, expected: abstract new (...args: never) => Error, work: () => Promise<unknown>): Promise<void>;
//# sourceMappingURL=contract.d.ts.map