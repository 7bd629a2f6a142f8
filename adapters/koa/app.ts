import Koa from 'koa';
import { apiErrors, statusOf } from '../api/index.js';
import { createDocsRouter } from './docs-page.js';
import { respondBeforeBody } from './early-response.js';
import { HttpError, toHttpError } from './http-error.js';
import { assertWellFormed, toOriginForm, toRequestId } from './request-head.js';
import { createPlantRouter, type PlantRouterOptions } from './router.js';

/** Maximum length of a logged path. */
const MAX_LOGGED_PATH_LENGTH = 256;

/** Receives this adapter's log lines. A pino logger implements it. */
export interface Log {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A finished request. */
export interface RequestSummary {
  readonly method?: string | undefined;
  /** The route that matched, if any. */
  readonly route?: string | undefined;
  /** The status of the response; absent if the client disconnected before its request was complete. */
  readonly status?: number | undefined;
  /** The error number, if the request was rejected. */
  readonly error?: number | undefined;
  readonly durationMs?: number | undefined;
}

/** Options of {@link createApp}. */
export interface AppOptions extends PlantRouterOptions {
  /** Whether to serve the page at `/docs` and redirect `/` to it; `false` by default. */
  readonly docs?: boolean | undefined;
  readonly log: Log;
  /** Called at the end of each request, for metrics. */
  readonly onRequestEnd?: ((request: RequestSummary) => void) | undefined;
}

/** Creates the whole HTTP interface as a Koa app: routes, `ApiError` bodies, and a log line per request and failure. */
export function createApp(options: AppOptions): Koa {
  const { log, onRequestEnd } = options;
  const app = new Koa();

  app.use(async (ctx, next) => {
    const start = performance.now();
    const requestId = toRequestId(ctx.req.headers['x-request-id']);
    ctx.set('X-Request-Id', requestId);
    const target = toOriginForm(ctx.req.url ?? '');
    let httpError: HttpError | undefined;
    let aborted = false;
    try {
      assertWellFormed(ctx.req);
      if (target === undefined) throw new HttpError(apiErrors.noSuchPath);
      ctx.req.url = target;
      await next();
    } catch (error) {
      // The client closed the connection before its request was complete, so no response can be sent.
      aborted = error instanceof Error && !(error instanceof HttpError) && error === ctx.req.errored;
      if (!aborted) httpError = toHttpError(error);
    }
    if (httpError) {
      ctx.status = statusOf(httpError.apiError);
      ctx.set({ ...httpError.headers, 'Content-Type': 'application/json' });
      ctx.body = JSON.stringify(httpError.apiError);
    }
    if (aborted) ctx.respond = false;
    else if (!ctx.req.complete) await respondBeforeBody(ctx);

    const { method } = ctx;
    const status = aborted ? undefined : ctx.status;
    const error = httpError?.apiError.error;
    const durationMs = Math.round((performance.now() - start) * 1000) / 1000;
    reportSafely(() => {
      if (httpError?.cause !== undefined) log.error({ requestId, error, err: httpError.cause }, 'request failed');
      const path = target?.split('?', 1)[0]?.slice(0, MAX_LOGGED_PATH_LENGTH);
      const subject = ctx.state['principal']?.subject;
      const fields = { requestId, method, path, subject, status, error, aborted: aborted || undefined, durationMs };
      log.info(fields, 'request');
    });
    reportSafely(() => onRequestEnd?.({ method, route: ctx['_matchedRoute'], status, error, durationMs }));
  });
  app.use(createPlantRouter(options).routes());
  if (options.docs) app.use(createDocsRouter(options.basePath).routes());
  app.use(() => {
    throw new HttpError(apiErrors.noSuchPath);
  });
  // Only socket errors during a response get here; Koa would print them to standard error.
  app.on('error', () => {});
  return app;
}

/** Calls a log or metrics callback; the response and the process do not depend on it. */
export function reportSafely(report: () => void): void {
  try {
    report();
  } catch {
    // A failing log cannot be logged.
  }
}
