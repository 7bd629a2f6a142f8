import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import Koa, { type Context } from 'koa';
import { rejections, statusOf } from '../wire/index.js';
import { ClientLeft } from './body.js';
import { Refusal, refusalOf } from './refusal.js';
import { isSingle, type PlantRouterOptions, plantRouter } from './router.js';

/** Where this adapter writes what happened; a pino logger is one. */
export interface Log {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** How much of an unread body is read and dropped after an early refusal, in bytes, and for how long, in milliseconds. */
const DROPPED_BYTES_MAX = 1024 * 1024;
const DROPPING_MS_MAX = 1000;

/** The whole HTTP interface as a Koa app: routes, an Error object for whatever goes wrong, and a log line a request. */
export function createApp(options: PlantRouterOptions & { readonly log: Log }): Koa {
  const { log } = options;
  const app = new Koa();

  app.use(async (ctx, next) => {
    const start = performance.now();
    const requestId = requestIdOf(ctx.req.headers['x-request-id']);
    ctx.set('X-Request-Id', requestId);
    let error: number | undefined;
    let aborted: true | undefined;
    try {
      if (ctx.req.httpVersion === '1.1' && !isSingle(ctx, 'host')) {
        throw new Refusal({ ...rejections.malformedHttp, message: 'The request must have exactly one Host header' });
      }
      await next();
    } catch (cause) {
      if (cause instanceof ClientLeft) {
        ctx.respond = false;
        aborted = true;
        return;
      }
      const refusal = refusalOf(cause);
      error = refusal.rejection.error;
      if (error >= 50000 && refusal.cause !== undefined)
        log.error({ requestId, error, err: refusal.cause }, 'request failed');
      answer(ctx, refusal);
    } finally {
      log.info(
        {
          requestId,
          method: ctx.method,
          path: ctx.path,
          status: aborted ? undefined : ctx.status,
          error,
          aborted,
          durationMs: Math.round((performance.now() - start) * 1000) / 1000,
        },
        'request',
      );
    }
  });
  app.use(plantRouter(options).routes());
  app.use(() => {
    throw new Refusal(rejections.noSuchPath);
  });
  // What reaches this is a connection that broke while it was answered: everything else was answered above.
  app.on('error', () => {});
  return app;
}

/** The id that the client gave its request where it is a sane one, else a new one. */
export function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}

/**
 * Answers with an Error object. Where the request's body was not read to its end the answer goes out whole, but is
 * ended only once the rest was dropped, up to a limit; closing at once could reset the connection before the client has
 * read the answer (RFC 9112 §9.6).
 */
function answer(ctx: Context, { rejection, headers }: Refusal): void {
  const body = JSON.stringify(rejection);
  ctx.status = statusOf(rejection);
  ctx.set({ ...headers, 'Content-Type': 'application/json' });
  ctx.body = body;
  const { req, res } = ctx;
  if (req.complete) return;
  ctx.set('Connection', 'close');
  if (ctx.method === 'HEAD') return;
  ctx.respond = false;
  res.write(body);
  dropRest(req).then(() => res.end());
}

function dropRest(req: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let dropped = 0;
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, DROPPING_MS_MAX);
    req.on('data', (chunk: Buffer) => {
      dropped += chunk.length;
      if (dropped > DROPPED_BYTES_MAX) done();
    });
    req.once('end', done).once('close', done).once('error', done);
    req.resume();
  });
}
