import { type Rejection } from '../wire/index.js';
/** Thrown by the parts of this adapter to end a request with an Error object. */
export declare class Refusal extends Error {
    readonly name = "Refusal";
    readonly rejection: Rejection;
    readonly headers: Readonly<Record<string, string>>;
    constructor(rejection: Rejection, headers?: Readonly<Record<string, string>>, options?: {
        cause?: unknown;
    });
}
/** The refusal that tells a client of any error, without a word of its own text. */
export declare function refusalOf(error: unknown): Refusal;
//# sourceMappingURL=refusal.d.ts.map