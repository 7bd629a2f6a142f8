import Koa from 'koa';
import { apiErrors } from '../api/index.js';
import {
  HttpError,
  type HttpServer,
  type HttpServerOptions,
  handleRequest,
  NodeHttpServer,
  type RequestLog,
} from '../http/index.js';
import { createDocsRouter } from './docs-page.js';
import { createPlantRouter, type PlantRouterOptions } from './router.js';

/** Options of {@link createApp}. */
export interface AppOptions extends PlantRouterOptions, RequestLog {
  /** Whether to serve the page at `/docs` and redirect `/` to it. @default false */
  readonly docs?: boolean | undefined;
}

/** Creates the whole HTTP API as a Koa app: routes, `ApiError` bodies, and a log line per request and failure. */
export function createApp(options: AppOptions): Koa {
  const app = new Koa();
  app.use(async (ctx, next) => {
    await handleRequest(ctx.req, ctx.res, options, async (report) => {
      ctx.state['report'] = report;
      await next().finally(() => Object.assign(report, { route: ctx['_matchedRoute'] }));
    });
    // An error has been sent.
    if (ctx.headerSent) ctx.respond = false;
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

/** Creates the whole service: {@link createApp} behind a server with limits and graceful shutdown. */
export function createKoaServer(options: AppOptions & HttpServerOptions): HttpServer {
  return new NodeHttpServer(createApp(options).callback(), options);
}
