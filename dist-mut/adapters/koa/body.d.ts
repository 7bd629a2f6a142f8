import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import type { Place } from './admission.js';
import { Refusal } from './refusal.js';
/** A client that left before its request was complete; there is nobody to answer. */
export declare class ClientLeft extends Error {
    readonly name = "ClientLeft";
}
/** The body of a request as bytes, inflated. */
export type ReadBody = (ctx: Context, place: Place) => Promise<Uint8Array>;
/**
 * Reads bodies of up to `limitBytes`, by koa-bodyparser in text mode without an encoding, which hands over bytes: its
 * JSON mode rounds numbers, its other text modes replace what is not UTF-8. Inflating is done here, before it, so that
 * what is inflated is counted while it grows, a damaged encoding is told from a defect, and a client that leaves in the
 * middle is noticed.
 */
export declare function bodyReader(limitBytes: number): ReadBody;
/** Ends the reading of a body, now or when it begins, because the rest of it will never come. */
export declare function failBody(req: IncomingMessage, refusal: Refusal): void;
//# sourceMappingURL=body.d.ts.map