import type { Container } from 'inversify';
import { after } from 'mocha';
import type { AddOutcome, Plant, PlantRepository } from '../../../core/index.js';
import { type RawAnswer } from '../../support/raw-http.js';
import { type startService, type TestService } from '../../support/service.js';
/** A way of starting the service. */
export type Start = typeof startService;
/** What a create needs beside its body. */
export declare const HEADERS: {
    readonly Authorization: "Bearer test-token";
    readonly 'Content-Type': 'application/json';
};
/** One service for all tests of the surrounding suite. */
export declare function sharedService(start: Start, environment?: Readonly<Record<string, string>>): () => TestService;
/** The same way of starting, for services that end with the test that started them, or with its suite. */
export declare function startInTest(start: Start, endsWith?: typeof after): Start;
/** The JSON text of a NewPlant under an id that no other test uses. */
export declare function newPlant(fields?: object): string;
/** The bytes of a create. */
export declare function post(body?: string | Uint8Array, headers?: Readonly<Record<string, string>>): Buffer;
/** The head of a create whose body is still to come. */
export declare function postHead(headers: Readonly<Record<string, string>>): Buffer;
/** Sends a create over a connection of its own. */
export declare function create({ port }: TestService, body?: string | Uint8Array, headers?: Readonly<Record<string, string>>): Promise<RawAnswer | undefined>;
/** 200, or the number of an Error; whatever is no proper answer of this service fails here. */
export declare function verdict(answer: RawAnswer | undefined): number;
/** Checks that a client is told when to come again, in whole seconds. */
export declare function expectRetryAfter(answer: RawAnswer | undefined): void;
/** Creates again and again until there is a place; one that never comes back ends in the time limit of the test. */
export declare function firstServed(service: TestService): Promise<number>;
/** Sends everything over one connection, for the verdicts of all answers up to its end. */
export declare function verdictsToEnd({ port }: TestService, bytes: string | Uint8Array): Promise<number[]>;
/** Resolves when the service has read what other clients had sent it: it has answered this one. */
export declare function servedMeanwhile({ port }: TestService): Promise<void>;
/** Everything that is stored. */
export declare function stored({ plants }: TestService): Promise<Pick<Plant, 'id' | 'name' | 'tag'>[]>;
/** Puts `add` before the `add` of the repository that the container has. */
export declare function withAdd(add: (plants: readonly Plant[], repository: PlantRepository) => Promise<readonly AddOutcome[]>): (container: Container) => void;
/** Holds up whoever passes, until it is opened. */
export declare class Gate {
    #private;
    /** Resolves when somebody stands before the gate. */
    readonly arrived: Promise<void>;
    /** Waits at the gate. */
    pass(): Promise<void>;
    open(): void;
    /** A gate before the check of the first token. */
    beforeFirstVerify(): (container: Container) => void;
    /** A gate before the storage. */
    beforeAdd(): (container: Container) => void;
}
//# sourceMappingURL=support.d.ts.map