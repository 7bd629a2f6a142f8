import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from 'koa';
import { rejections, statusOf } from '../wire/index.js';
import type { Refusal } from './refusal.js';

/** How much of an unread body is read and dropped after an early refusal, in bytes. */
const DROPPED_BYTES_MAX = 1024 * 1024;
/** How long it is read and dropped, in milliseconds. */
const DROPPING_MS_MAX = 1000;

/** Makes the answer an Error object. */
export function setError(ctx: Context, { rejection, headers }: Refusal): void {
  ctx.status = statusOf(rejection);
  ctx.set({ ...headers, 'Content-Type': 'application/json' });
  ctx.body = JSON.stringify(rejection);
  // After it, what is a request and what is not is in doubt.
  if (rejection.error === rejections.malformedHttp.error) ctx.set('Connection', 'close');
}

/**
 * Answers a request whose body has not arrived to its end. The answer goes out whole, but is ended only once the rest was
 * dropped, up to a limit, and the connection is closed: closing it at once could reset it before the client has read the
 * answer (RFC 9112 §9.6).
 */
export async function answerUnread(ctx: Context): Promise<void> {
  const { req, res } = ctx;
  // A body that came in one piece with its headers is there one turn later.
  await nextTurn();
  if (req.complete) return;
  ctx.respond = false;
  ctx.set('Connection', 'close');
  // An answer to HEAD and a 304 have no body with which their head would go out.
  res.flushHeaders();
  if (ctx.body) res.write(ctx.body);
  dropRest(req).then(() => res.end());
}

function dropRest(req: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, DROPPING_MS_MAX);
    let dropped = 0;
    req.on('data', (chunk: Buffer) => {
      dropped += chunk.length;
      if (dropped > DROPPED_BYTES_MAX) resolve();
    });
    for (const event of ['end', 'close', 'error']) req.once(event, () => resolve());
    req.once('close', () => clearTimeout(timer));
    req.resume();
  });
}
