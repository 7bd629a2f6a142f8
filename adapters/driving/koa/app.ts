import Router, { type RouterContext } from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { apiErrors, openApiDescription } from '../api/index.js';
import {
  ApiException,
  createOperations,
  type HttpServer,
  type HttpServerOptions,
  handleRequest,
  methodNotAllowed,
  NodeHttpServer,
  type OperationOptions,
  type RequestLog,
} from '../http/index.js';
import { addDocsRoutes } from './docs-page.js';

/** Options of {@link createApp}. */
export interface AppOptions extends OperationOptions, RequestLog {
  /** Path prefix such as `/garden`. @default none */
  readonly basePath?: string | undefined;
  /** Whether to serve the page at `/docs` and redirect `/` to it. @default false */
  readonly docs?: boolean | undefined;
}

/** Creates the whole HTTP API as a Koa app: routes, `ApiError` bodies, and a log line per request and failure. */
export function createApp(options: AppOptions): Koa {
  const app = new Koa();
  app.use(async (ctx, next) => {
    await handleRequest(ctx.req, ctx.res, options, async (report) => {
      ctx.state['report'] = report;
      // The routes of an outer app.
      delete ctx['matched'];
      try {
        await next();
      } finally {
        report.route = ctx['matched']?.[0]?.path;
      }
    });
    // An error has been sent.
    if (ctx.headerSent) ctx.respond = false;
  });
  app.use(createRouter(options).routes());
  // Only requests that no route handles get here.
  app.use(({ matched = [] }: RouterContext) => {
    const methods = new Set(matched.flatMap((layer) => layer.methods));
    throw methods.size > 0 ? methodNotAllowed([...methods]) : new ApiException(apiErrors.noSuchPath);
  });
  // Only socket errors during a response get here; Koa would print them to standard error.
  app.on('error', () => {});
  return app;
}

/** Creates the whole service: {@link createApp} behind a server with limits and graceful shutdown. */
export function createKoaServer(options: AppOptions & HttpServerOptions): HttpServer {
  return new NodeHttpServer(createApp(options).callback(), options);
}

function createRouter(options: AppOptions): Router {
  const { basePath = '', description = openApiDescription, docs = false } = options;
  const router = new Router({ prefix: basePath, sensitive: true, strict: true });

  for (const { method, path, run } of createOperations(options)) {
    router.register(path.replaceAll(/\{(\w+)\}/g, ':$1'), [method], async (ctx) => {
      const { req, res, params: parameters } = ctx;
      const { report } = ctx.state;
      // koa-bodyparser keeps all chunks, of which a chunked body can have one per byte.
      const isChunked = req.headers['transfer-encoding'] !== undefined;
      const body = await run({ req, res, parameters, report, collect: isChunked ? undefined : () => collect(ctx) });
      // First, so that Koa does not look for the type of a string.
      ctx.set('Content-Type', 'application/json');
      ctx.body = body;
    });
  }

  // Cached, so that slow clients share one copy.
  let served = { url: '', text: '' };
  router.get('/openapi.json', (ctx) => {
    const url = toBaseUrl(ctx, '/openapi.json');
    if (url !== served.url) served = { url, text: JSON.stringify({ ...description, servers: [{ url }] }) };
    ctx.body = served.text;
    ctx.set('Content-Type', 'application/json');
  });
  if (docs) addDocsRoutes(router);
  return router;
}

/** Returns the path prefix, including that of an outer app (koa-mount shortens `path`). */
function toBaseUrl({ originalUrl }: Context, path: string): string {
  const [url = ''] = originalUrl.replace(/^https?:\/\/[^/?#]*/i, '').split('?', 1);
  return url.slice(0, -path.length) || '/';
}

/**
 * Text mode without an encoding returns raw bytes; an encoding replaces invalid UTF-8, and JSON mode rounds ids. The
 * Content-Length is already below the limit.
 */
const MODE = { enableTypes: ['text'], extendTypes: { text: ['application/json'] }, encoding: '', textLimit: '1gb' };
const parse: Middleware = bodyParser(MODE);

/** Collects a body with a Content-Length as it was sent, with koa-bodyparser. */
async function collect(ctx: Context): Promise<Uint8Array> {
  // koa-bodyparser would decompress, but ignore bytes after the end, and never settle if the client disconnects.
  delete ctx.req.headers['content-encoding'];
  try {
    await parse(ctx, async () => {});
  } catch (error) {
    throw ctx.req.errored ?? error;
  }
  // Without a body, koa-bodyparser leaves an empty object.
  return ctx.request.body instanceof Uint8Array ? ctx.request.body : new Uint8Array();
}
