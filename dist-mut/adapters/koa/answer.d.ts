import type { Context } from 'koa';
import type { Refusal } from './refusal.js';
/** Makes the answer an Error object. */
export declare function setError(ctx: Context, { rejection, headers }: Refusal): void;
/**
 * Answers a request whose body has not arrived to its end. The answer goes out whole, but is ended only once the rest was
 * dropped, up to a limit, and the connection is closed: closing it at once could reset it before the client has read the
 * answer (RFC 9112 §9.6).
 */
export declare function answerUnread(ctx: Context): Promise<void>;
//# sourceMappingURL=answer.d.ts.map