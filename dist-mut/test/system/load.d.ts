import { type TestPlant } from './client.js';
import type { TestStore } from './stores.js';
/** How many clients create plants at once. */
export declare const CLIENTS = 64;
/** One create: what came of it, and when, on the clock of `performance.now()`. */
export interface Created {
    readonly plant: TestPlant;
    /** As of {@link outcomeOf}. */
    readonly outcome: unknown;
    readonly sentAt: number;
    readonly answeredAt: number;
}
/** Clients that create plants, each one after the other, and what they know of them, over any number of services. */
export declare class Load {
    #private;
    /** Every plant that was sent, by its id. */
    readonly sent: Map<bigint, TestPlant>;
    /** Everything that was answered, in that order. */
    readonly created: Created[];
    /** Plants of which nobody knows whether they are stored: their create was answered with 503, or not at all. */
    readonly unknown: Set<TestPlant>;
    /** @param makePlant the plant number `index`, with an id of its own */
    constructor(makePlant?: (index: number) => TestPlant);
    /** Has clients send until they are stopped or the service ends their connections. */
    start(port: number): void;
    /** Resolves when every client has stopped because the service ended its connection. */
    ended(): Promise<void>;
    /** Lets every client wait for its answer, and no longer. */
    stop(): Promise<void>;
    /** Resolves when `count` more creates have had the outcome. */
    more(count: number, outcome: unknown): Promise<void>;
    /** How many creates had each outcome. */
    outcomes(): Map<unknown, number>;
    /** Sends every plant again of which nobody knows whether it is stored; from then on it is, and as it was sent. */
    retryUnknown(port: number): Promise<void>;
    /** Checks that every plant that a client knows to be stored is in the store, exactly, and nothing that nobody sent. */
    expectNothingLost(store: TestStore): Promise<void>;
}
/** The plant number `index` of a run: ids from both ends of int64 and around zero, texts that are easily damaged. */
export declare function somePlant(index: number): TestPlant;
//# sourceMappingURL=load.d.ts.map