import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { HttpApi, type HttpApiOptions, type HttpServerOptions, NodeHttpServer, type Reply } from '../http/index.js';

/** Creates the whole service: {@link createKoaApp} behind a server with limits and graceful shutdown. */
export function createKoaServer(options: HttpApiOptions & HttpServerOptions): NodeHttpServer {
  const api = new HttpApi(options);
  return new NodeHttpServer(createKoaApp(api).callback(), { ...options, api });
}

/** Creates a Koa app that finds the handlers of the HTTP API by path, and writes their replies. */
export function createKoaApp(api: HttpApi): Koa {
  const app = new Koa();
  const router = new Router({ sensitive: true, strict: true });
  for (const { path, handle } of api.endpoints) {
    router.all(path.replaceAll(/\{(\w+)\}/g, ':$1'), async (ctx) => {
      const { req, res, params, originalUrl } = ctx;
      write(ctx, await handle({ req, res, params, originalUrl, readBody: () => readBody(ctx) }));
    });
  }
  app.use((ctx, next) => {
    // The router reads the host. Koa looks for a user in it, in a time that is quadratic in its length.
    if (ctx.req.headers.host?.includes('@')) ctx.req.headers.host = '';
    return next().catch((failure) => write(ctx, api.fail(ctx, failure)));
  });
  app.use(router.routes());
  app.use(async (ctx) => write(ctx, await api.notFound(ctx)));
  // Only socket errors during a response get here; Koa would print them to standard error.
  app.on('error', () => {});
  return app;
}

function write(ctx: Context, { status, headers, body }: Reply): void {
  ctx.status = status;
  // Before the body, so that Koa does not look for the type of a string.
  ctx.set(headers);
  ctx.body = typeof body === 'string' || Buffer.isBuffer(body) ? body : Buffer.from(body);
}

/**
 * In text mode, koa-bodyparser returns bytes if there is no encoding; an encoding replaces invalid UTF-8, and JSON mode
 * rounds ids. The length has been checked.
 */
const MODE = { enableTypes: ['text'], extendTypes: { text: ['application/json'] }, encoding: '', textLimit: '1gb' };
const parse = bodyParser(MODE);

async function readBody(ctx: Context): Promise<Uint8Array> {
  await parse(ctx, async () => {});
  // Without a body, koa-bodyparser leaves an empty object.
  return ctx.request.body instanceof Uint8Array ? ctx.request.body : new Uint8Array();
}
