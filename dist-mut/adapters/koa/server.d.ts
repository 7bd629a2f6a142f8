import type { AddressInfo } from 'node:net';
import type Koa from 'koa';
import type { Admission } from './admission.js';
import { type Log } from './app.js';
/** How long clients are waited for, in milliseconds. */
export interface ServerTimeouts {
    /** How long the headers of a request may take to arrive. */
    readonly headersTimeoutMs: number;
    /** How long a whole request may take to arrive. */
    readonly requestTimeoutMs: number;
    /** How long an idle connection is kept, and a client that does not read its answer is waited for. */
    readonly keepAliveTimeoutMs: number;
}
/**
 * The Node server around a Koa app: it answers what Node would answer without a body, keeps the order of pipelined
 * requests, bounds every wait for a client, and stops without dropping anybody.
 */
export declare class HttpServer {
    #private;
    constructor(app: Koa, admission: Admission, timeouts: ServerTimeouts, log: Log);
    /** Listens; rejects with the operating system's error where it cannot. */
    listen(port: number, host: string): Promise<AddressInfo>;
    /**
     * Stops listening, closes idle connections, finishes what is under way.
     *
     * @param timeoutMs how long to wait before what is left is cut off
     * @returns whether nothing had to be cut off
     */
    stop(timeoutMs: number): Promise<boolean>;
}
//# sourceMappingURL=server.d.ts.map