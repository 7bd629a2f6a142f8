import Router from '@koa/router';
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
  const router = createRouter(options);
  app.use(async (ctx, next) => {
    // The router reads the host. Koa looks for a user in it, in a time that is quadratic in its length.
    if (ctx.req.headers.host?.includes('@')) ctx.req.headers.host = '';
    await handleRequest(ctx.req, ctx.res, options, (exchange) => {
      ctx.state['exchange'] = exchange;
      return next();
    });
    // An error has been sent.
    if (ctx.headerSent) ctx.respond = false;
  });
  app.use(router.routes());
  // Only requests that no route handles get here.
  app.use(({ path, method }) => {
    const methods = router.match(path, method).path.flatMap((layer) => layer.methods);
    throw methods.length > 0 ? methodNotAllowed(methods) : new ApiException(apiErrors.noSuchPath);
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
      // koa-bodyparser keeps all chunks, of which a chunked body can have one per byte.
      const isChunked = ctx.req.headers['transfer-encoding'] !== undefined;
      const collect = isChunked ? undefined : () => parseBody(ctx);
      const body = await run(ctx.state['exchange'], { parameters: ctx.params, collect });
      // First, so that Koa does not look for the type of a string.
      ctx.set('Content-Type', 'application/json');
      ctx.body = body;
    });
  }

  router.get('/openapi.json', (ctx) => {
    // The path prefix, including that of an outer app.
    const url = ctx.originalUrl.replace(/\/openapi\.json(\?.*)?$/, '') || '/';
    ctx.body = { ...description, servers: [{ url }] };
    ctx.set('Content-Type', 'application/json');
  });
  if (docs) addDocsRoutes(router);
  return router;
}

/**
 * Text mode without an encoding returns raw bytes; an encoding replaces invalid UTF-8, and JSON mode rounds ids. The
 * Content-Length is already below the limit.
 */
const MODE = { enableTypes: ['text'], extendTypes: { text: ['application/json'] }, encoding: '', textLimit: '1gb' };
const parse: Middleware = bodyParser(MODE);

/** Collects a body with a Content-Length as it was sent, with koa-bodyparser. */
async function parseBody(ctx: Context): Promise<Uint8Array> {
  // koa-bodyparser never settles if the client disconnects during a compressed body.
  delete ctx.req.headers['content-encoding'];
  await parse(ctx, async () => {});
  // Without a body, koa-bodyparser leaves an empty object.
  return ctx.request.body instanceof Uint8Array ? ctx.request.body : new Uint8Array();
}
