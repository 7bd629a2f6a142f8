import Router from '@koa/router';
import type { CreatePlantUseCase, TokenVerifier } from '@plant-store/core';
import Koa from 'koa';
import { type Declined, JsonPlantCodec, type LogOptions, type OpenApiDescription } from '../api/index.js';
import type { ClientState, CreateState, InFlight, RequestState } from './context.js';
import { addDocs, serveDescription } from './docs-page.js';
import { logRequests } from './log-requests.js';
import * as middlewares from './middlewares.js';
import { readBody } from './read-body.js';

/**
 * Adds routes to a router. They run after the limit and the check of the credential, and count as in flight until they
 * settle, also if the client has left.
 */
export type ClientRoutes = (router: Router<ClientState>) => void;

/** Options of {@link addRoutes}. */
export interface RouteOptions {
  /** The use case, or a decorator of it, which gets the authenticated client. */
  readonly createPlant: CreatePlantUseCase<Declined>;
  readonly tokenVerifier: TokenVerifier;
  /** Add routes for authenticated clients. @default none */
  readonly routes?: readonly ClientRoutes[] | undefined;
  /** Describes these routes, too, and the errors with which `createPlant` declines plants. @default `docs/openapi.yaml` */
  readonly description?: OpenApiDescription | undefined;
  /** Path prefix such as `/garden`. @default none */
  readonly basePath?: string | undefined;
  /** Serves the page at `/docs`, and redirects `/` to it, with Swagger UI from this folder. @default no page */
  readonly swaggerUiFolder?: string | undefined;
  /** Maximum number of requests in flight, except for those of public routes. @default 1000 */
  readonly maxInFlight?: number | undefined;
  /** Maximum memory reserved for creates: eight bytes for each byte of a body. @default 67108864 */
  readonly maxInFlightBytes?: number | undefined;
  /** Maximum size of a body. @default 1048576 */
  readonly bodyLimitBytes?: number | undefined;
  /** Counts the requests in flight. @default a new one */
  readonly inFlight?: InFlight | undefined;
}

/** Creates the HTTP API as a Koa app, to serve, to mount in another app, or to extend with `use`. */
export function createKoaApp(options: RouteOptions & LogOptions): Koa<RequestState> {
  return addRoutes(createBaseApp(options), options);
}

/** Creates an app that gives each request an id, logs its end, and responds with Error objects to failures. */
export function createBaseApp(options: LogOptions): Koa<RequestState> {
  const app = new Koa<RequestState>();
  // Koa's own listener prints failures to standard error, also those of connections, and throws for what is no Error.
  app.on('error', (failure, ctx) => {
    // A client that leaves is no failure. Koa reports that of a stream twice.
    const isDisconnect = ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(failure?.code);
    if (!ctx?.state || ctx.state.failure === failure || isDisconnect) return;
    ctx.state.failure = failure;
    options.log?.error({ requestId: ctx.state.requestId, err: failure }, 'the response cannot be sent');
  });
  return app.use(logRequests(options)).use(middlewares.exposeHttpErrors).use(middlewares.cleanTarget);
}

/** Adds the routes of the HTTP API to an app. They do not see requests to which an earlier middleware responds. */
export function addRoutes(app: Koa<RequestState>, options: RouteOptions): Koa<RequestState> {
  const { createPlant, tokenVerifier, routes = [], description, basePath = '', swaggerUiFolder } = options;
  const { inFlight = { requests: 0, bytes: 0 } } = options;
  const { maxInFlight = 1000, maxInFlightBytes = 64 * 1024 ** 2, bodyLimitBytes = 1024 ** 2 } = options;
  const codec = new JsonPlantCodec(description);
  const routing = { prefix: basePath, sensitive: true, strict: true };
  const guards = [
    middlewares.concealFailures,
    middlewares.limitInFlight(inFlight, maxInFlight),
    middlewares.checkCredential(tokenVerifier),
  ] as const;

  const router = new Router<RequestState>(routing);
  router.post<CreateState>(
    '/plants',
    ...guards,
    middlewares.checkHeaders,
    readBody(inFlight, maxInFlightBytes, bodyLimitBytes),
    middlewares.create(createPlant, codec),
  );
  // A router of their own, because a router compares the path of a create with each of its routes.
  const docs = new Router<RequestState>(routing);
  docs.get('/openapi.json', serveDescription(description));
  if (swaggerUiFolder !== undefined) addDocs(docs, swaggerUiFolder);

  app.use(router.routes()).use(docs.routes());

  const routers: Pick<Router, 'match'>[] = [router, docs];
  for (const add of routes) {
    const clients = new Router<ClientState>(routing);
    const own = new Router<ClientState>({ sensitive: true, strict: true });
    // The guards match every path: that of a route may be a regular expression, or have another prefix or case.
    clients.use(/^/, ...guards, middlewares.exposeHttpErrors);
    add(own);
    app.use(clients.use(own.routes()).routes());
    routers.push(clients);
  }
  return app.use(middlewares.rejectUnknown(...routers));
}
