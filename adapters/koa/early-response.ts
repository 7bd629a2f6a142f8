import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from 'koa';

/** Maximum size of an unread body that is discarded after an early rejection. */
const MAX_DISCARDED_BYTES = 1024 * 1024;
/** Maximum time for discarding it. */
const DISCARD_TIMEOUT_MS = 1000;

/**
 * Sends the response to a request whose body has not arrived. Discards the rest of the body, up to a limit, before
 * closing the connection: closing it at once could reset it before the client has read the response (RFC 9112 §9.6).
 */
export async function respondBeforeBody(ctx: Context): Promise<void> {
  const { req, res } = ctx;
  // A body in the same packet as its headers is complete one turn later.
  await nextTurn();
  if (req.complete) return;
  ctx.respond = false;
  ctx.set('Connection', 'close');
  // Responses to HEAD requests, and 304 responses, have no body that would send the headers.
  res.flushHeaders();
  if (ctx.body) res.write(ctx.body);
  discardBody(req).then(() => res.end());
}

function discardBody(req: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (req.destroyed) return resolve();
    setTimeout(resolve, DISCARD_TIMEOUT_MS).unref();
    let discardedBytes = 0;
    req.on('data', (chunk: Buffer) => {
      discardedBytes += chunk.length;
      if (discardedBytes > MAX_DISCARDED_BYTES) resolve();
    });
    for (const event of ['end', 'close', 'error']) req.once(event, () => resolve());
    req.resume();
  });
}
