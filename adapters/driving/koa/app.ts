import Router from '@koa/router';
import type { Principal, TokenVerifier } from '@plant-store/core';
import Koa from 'koa';
import { JsonPlantCodec, type LogOptions, type OpenApiDescription, openApiDescription } from '../api/index.js';
import type { CreateState, HttpCreatePlant, Load, RequestState } from './context.js';
import { addDocs, serveDescription } from './docs-page.js';
import { logRequests } from './log-requests.js';
import * as middlewares from './middlewares.js';
import { readBody } from './read-body.js';

/** Options of {@link addRoutes}. */
export interface RouteOptions {
  /** The use case, or a function that returns it for the authenticated client. */
  readonly createPlant: HttpCreatePlant | ((principal: Principal) => HttpCreatePlant | Promise<HttpCreatePlant>);
  readonly tokenVerifier: TokenVerifier;
  /** Describes the errors with which `createPlant` declines plants, too. @default `docs/openapi.yaml` */
  readonly description?: OpenApiDescription | undefined;
  /** Path prefix such as `/garden`. @default none */
  readonly basePath?: string | undefined;
  /** Serves the page at `/docs`, and redirects `/` to it, with Swagger UI from this folder. @default no page */
  readonly swaggerUiFolder?: string | undefined;
  /** Maximum number of creates in flight. @default 1000 */
  readonly maxInFlight?: number | undefined;
  /** Maximum memory reserved for them: eight bytes for each byte of a body. @default 67108864 */
  readonly maxInFlightBytes?: number | undefined;
  /** Maximum size of a body. @default 1048576 */
  readonly bodyLimitBytes?: number | undefined;
  /** Counts the creates in flight. @default a new one */
  readonly load?: Load | undefined;
}

/** Creates the HTTP API as a Koa app, to serve, to mount in another app, or to extend with `use`. */
export function createKoaApp(options: RouteOptions & LogOptions): Koa<RequestState> {
  return addRoutes(createBaseApp(options), options);
}

/** Creates an app that gives each request an id, logs its end, and responds with Error objects to failures. */
export function createBaseApp(options: LogOptions): Koa<RequestState> {
  const app = new Koa<RequestState>();
  // Koa's own listener prints failures to standard error, also those of connections, and throws for what is no Error.
  app.on('error', () => {});
  return app.use(logRequests(options)).use(middlewares.exposeHttpErrors).use(middlewares.cleanTarget);
}

/** Adds the routes of the HTTP API to an app. They do not see requests to which an earlier middleware responds. */
export function addRoutes(app: Koa<RequestState>, options: RouteOptions): Koa<RequestState> {
  const { createPlant, tokenVerifier, basePath = '', swaggerUiFolder } = options;
  const { description = openApiDescription, load = { inFlight: 0, inFlightBytes: 0 } } = options;
  const { maxInFlight = 1000, maxInFlightBytes = 64 * 1024 ** 2, bodyLimitBytes = 1024 ** 2 } = options;
  const codec = new JsonPlantCodec(description);
  const router = new Router<RequestState>({ prefix: basePath, sensitive: true, strict: true });
  router.post<CreateState>(
    '/plants',
    middlewares.concealFailures,
    middlewares.limitInFlight(load, maxInFlight),
    middlewares.checkCredential(tokenVerifier),
    middlewares.checkHeaders,
    readBody(load, maxInFlightBytes, bodyLimitBytes),
    middlewares.create(createPlant, codec),
  );
  router.get('/openapi.json', serveDescription(description));
  if (swaggerUiFolder !== undefined) addDocs(router, swaggerUiFolder);
  app.use(router.routes());
  return app.use(middlewares.rejectUnknown(router));
}
