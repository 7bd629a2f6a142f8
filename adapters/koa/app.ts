import { randomUUID } from 'node:crypto';
import Koa, { type Context } from 'koa';
import { rejections } from '../wire/index.js';
import { answerUnread, setError } from './answer.js';
import { ClientLeft } from './body.js';
import { docsRouter } from './docs-page.js';
import { countOf } from './headers.js';
import { Refusal, refusalOf } from './refusal.js';
import { type PlantRouterOptions, plantRouter } from './router.js';

/** How much of a path is logged; those of the interface are shorter. */
const LOGGED_PATH_MAX = 256;

/** Where this adapter writes what happened; a pino logger is one. */
export interface Log {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What is known of a request once it is answered, or its client has left. */
export interface AnsweredRequest {
  readonly method?: string | undefined;
  /** The path of the interface that it came to, if any. */
  readonly route?: string | undefined;
  /** None where the client left before. */
  readonly status?: number | undefined;
  /** The error number, where it was refused. */
  readonly error?: number | undefined;
  readonly durationMs?: number | undefined;
}

/** What {@link createApp} is made of. */
export interface AppOptions extends PlantRouterOptions {
  /** Whether there is a page at `/docs` to which `/` leads; there is none unless this is `true`. */
  readonly docs?: boolean | undefined;
  readonly log: Log;
  /** Told of each request; for metrics. */
  readonly onAnswered?: ((request: AnsweredRequest) => void) | undefined;
}

/**
 * Koa, but for what it does in case middleware throws or leaves an answer open: the first one of {@link createApp} sees to
 * that. Koa's way takes a tenth of the time of a request (docs/decisions/0012-group-commit.md). Should a later Koa call
 * this by another name, its own way is back, and nothing else changes.
 */
class App extends Koa {
  async handleRequest(ctx: Context, middleware: (ctx: Context) => Promise<void>): Promise<void> {
    await middleware(ctx);
    if (ctx.respond !== false) ctx.res.end(ctx.body);
  }
}

/** The whole HTTP interface as a Koa app: routes, an Error object for whatever goes wrong, and a log line a request. */
export function createApp(options: AppOptions): Koa {
  const { log, onAnswered } = options;
  const app = new App();

  app.use(async (ctx, next) => {
    const start = performance.now();
    const requestId = requestIdOf(ctx.req.headers['x-request-id']);
    ctx.set('X-Request-Id', requestId);
    const target = originForm(ctx.req.url ?? '');
    let refusal: Refusal | undefined;
    let aborted = false;
    try {
      assertWellFormed(ctx);
      if (target === undefined) throw new Refusal(rejections.noSuchPath);
      ctx.req.url = target;
      await next();
    } catch (error) {
      aborted = error instanceof ClientLeft;
      if (!aborted) refusal = refusalOf(error);
    }
    const error = refusal?.rejection.error;
    if (refusal) setError(ctx, refusal);
    if (refusal?.cause !== undefined) log.error({ requestId, error, err: refusal.cause }, 'request failed');
    if (aborted) ctx.respond = false;
    else if (!ctx.req.complete) await answerUnread(ctx);
    const { method } = ctx;
    const status = aborted ? undefined : ctx.status;
    const durationMs = Math.round((performance.now() - start) * 1000) / 1000;
    log.info(
      {
        requestId,
        method,
        path: target?.split('?', 1)[0]?.slice(0, LOGGED_PATH_MAX),
        subject: ctx.state['principal']?.subject,
        status,
        error,
        aborted: aborted || undefined,
        durationMs,
      },
      'request',
    );
    onAnswered?.({ method, route: ctx['_matchedRoute'], status, error, durationMs });
  });
  app.use(plantRouter(options).routes());
  if (options.docs) app.use(docsRouter(options.basePath).routes());
  app.use(() => {
    throw new Refusal(rejections.noSuchPath);
  });
  // What reaches this is a connection that broke while it was answered: everything else was answered above.
  app.on('error', () => {});
  return app;
}

/** What Node's parser lets through. */
function assertWellFormed(ctx: Context): void {
  const { httpVersion, headers } = ctx.req;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') throw new Refusal(rejections.malformedHttp);
  const hosts = countOf(ctx, 'host');
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    throw new Refusal({ ...rejections.malformedHttp, message: 'The request must have exactly one Host header' });
  }
  // RFC 9112 §3.2: a host and perhaps a port, or nothing.
  if (hosts === 1 && !/^(\[[\da-f:.]+\]|[\w.~!$&'()*+;=%-]*)(:\d*)?$/i.test(headers.host ?? '')) {
    throw new Refusal({ ...rejections.malformedHttp, message: 'The Host header is not a host' });
  }
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) {
    throw new Refusal({
      ...rejections.malformedHttp,
      message: 'Transfer-Encoding must be chunked, in HTTP/1.1, or left out',
    });
  }
}

/**
 * The path and query of a request target (RFC 9112 §3.2), left as they were written; `undefined` for a target that is no
 * path. Koa would have the rest of an odd one repaired, or thrown at, by Node's lenient URL parser.
 */
function originForm(target: string): string | undefined {
  const path = target.replace(/^https?:\/\/[^/?#@]+(?=[/?]|$)/i, '').replace(/^(?=\?|$)/, '/');
  return /^\/[\x21\x22\x24-\x7e]*$/.test(path) ? path : undefined;
}

/** The id that the client gave its request where it is a sane one, else a new one. */
export function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}
