import Router from '@koa/router';
import type { Context } from 'koa';
import { openApiDescription } from '../api/index.js';
import { createOperations, methodNotAllowed, type OperationOptions } from '../http/index.js';
import { collect } from './body.js';

/** Options of {@link createPlantRouter}. */
export interface PlantRouterOptions extends OperationOptions {
  /** Path prefix such as `/garden`. @default none */
  readonly basePath?: string | undefined;
}

/** Creates the routes of the HTTP API. Handlers throw `HttpError`s, which `createApp` turns into responses. */
export function createPlantRouter(options: PlantRouterOptions): Router {
  const { basePath, description = openApiDescription } = options;
  const router = new Router({ prefix: basePath ?? '', sensitive: true, strict: true });

  const operations = createOperations(options);
  for (const { method, path, run } of operations) {
    router.register(toRoute(path), [method], async (ctx) => {
      const { req, res, params: parameters } = ctx;
      const report = ctx.state['report'];
      ctx.body = await run({ req, res, parameters, report, collect: (maxBytes) => collect(ctx, maxBytes) });
      ctx.set('Content-Type', 'application/json');
    });
  }
  for (const path of new Set(operations.map((operation) => operation.path))) {
    const methods = operations.filter((operation) => operation.path === path).map(({ method }) => method);
    router.all(toRoute(path), rejectMethod(...methods));
  }

  // Cached, so that slow clients share one copy.
  let served = { url: '', text: '' };
  router.get('/openapi.json', (ctx) => {
    const url = toBaseUrl(ctx, '/openapi.json');
    if (url !== served.url) served = { url, text: JSON.stringify({ ...description, servers: [{ url }] }) };
    ctx.body = served.text;
    ctx.set('Content-Type', 'application/json');
  });
  router.all('/openapi.json', rejectMethod('GET', 'HEAD'));

  return router;
}

/** Converts `/plants/{plantId}` to `/plants/:plantId`. */
function toRoute(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/** Returns the path prefix, including that of an outer app (koa-mount shortens `path`). */
function toBaseUrl({ originalUrl }: Context, path: string): string {
  const [url = ''] = originalUrl.replace(/^https?:\/\/[^/?#]*/i, '').split('?', 1);
  return url.slice(0, -path.length) || '/';
}

/** Creates middleware that rejects all methods except `allowed`, which earlier routes handle. */
export function rejectMethod(...allowed: readonly string[]): (ctx: Context) => never {
  return () => {
    throw methodNotAllowed(allowed);
  };
}
