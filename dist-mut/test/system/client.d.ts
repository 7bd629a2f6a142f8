import { Executable } from '../support/executable.js';
import { type RawAnswer } from '../support/raw-http.js';
/** The token that the services of these tests let in. */
export declare const TOKEN = "system-test-token";
/** Starts the executable on a free port, with {@link TOKEN}, in `folder`. */
export declare function serve(folder: string, environment?: Readonly<Record<string, string>>): Executable;
/** A plant as a test sends it and expects it in the file. */
export interface TestPlant {
    readonly id: bigint;
    readonly name: string;
    readonly tag?: string;
}
/** The bytes of a request that creates `plant`. */
export declare function creating({ id, ...texts }: TestPlant, headers?: Readonly<Record<string, string>>): Buffer;
/** Creates `plant` over a connection of its own. */
export declare function create(port: number, plant: TestPlant, headers?: Readonly<Record<string, string>>): Promise<RawAnswer | undefined>;
/** What became of a create: `200`, the number of the Error object, or `undefined` where no answer came. */
export declare function outcomeOf(answer: RawAnswer | undefined): unknown;
/** Plants in the order in which {@link plantsIn} reads them. */
export declare function byId(plants: Iterable<TestPlant>): TestPlant[];
/** The lines of a text that ends with a line break, or is empty. */
export declare function linesOf(text: string): string[];
//# sourceMappingURL=client.d.ts.map