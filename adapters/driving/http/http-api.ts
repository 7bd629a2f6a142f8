import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ApiError, apiErrors, openApiDescription } from '../api/index.js';
import { descriptionRoute, docsRoutes } from './docs-page.js';
import { type OperationOptions, Operations } from './operations.js';
import { errorReply, failureReply, type HttpRequest, type HttpRoute, type Reply } from './reply.js';

/** Maximum number of headers of a request. */
export const MAX_HEADERS = 100;

/** Maximum length of a logged path. */
const MAX_LOGGED_PATH_LENGTH = 256;

const REQUEST_ID = 'X-Request-Id';

/** Receives log lines. A pino logger implements it. */
export interface Log {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A finished request. */
export interface FinishedRequest {
  readonly method?: string | undefined;
  /** The path of its route, such as `/plants`, if there is one. */
  readonly route?: string | undefined;
  /** The status of the response; absent if the client disconnected before its request was complete. */
  readonly status?: number | undefined;
  /** The error number, if the request was rejected. */
  readonly error?: number | undefined;
  readonly durationMs?: number | undefined;
}

/** Options of {@link HttpApi}. */
export interface HttpApiOptions extends OperationOptions {
  /** Path prefix such as `/garden`. @default none */
  readonly basePath?: string | undefined;
  /** Serves the page at `/docs`, and redirects `/` to it, with Swagger UI from this folder. @default no page */
  readonly swaggerUiFolder?: string | undefined;
  /** Public routes beside the operations. @default none */
  readonly routes?: readonly HttpRoute[] | undefined;
  /** Receiver of log lines; its methods must not throw. @default none */
  readonly log?: Log | undefined;
  /** Whether to log a line per request. @default true */
  readonly accessLog?: boolean | undefined;
}

/** Handles a request of any method: resolves to the reply to write, whatever happens, and logs a line. */
export type Handle = (request: HttpRequest) => Promise<Reply>;

/** The routes of a path, by method. */
type Methods = ReadonlyMap<string, HttpRoute>;

type ReportedRequest = FinishedRequest & {
  readonly requestId: string;
  readonly url?: string;
  readonly traceparent?: string | undefined;
};

/** The HTTP API, for any framework: the framework finds the handler for a path, and writes its reply. */
export class HttpApi {
  /** A handler per path, such as `/plants/{plantId}`. */
  readonly endpoints: readonly { readonly path: string; readonly handle: Handle }[];
  /** Handles requests for any other path. */
  readonly notFound: Handle = (request) => this.#handle(request, new Map());
  /** Counts the requests in flight, and the memory reserved for their bodies. */
  readonly load: { readonly inFlight: number; readonly inFlightBytes: number };
  readonly #log: Log | undefined;
  readonly #accessLog: Log | undefined;
  readonly #observers: ((request: FinishedRequest) => void)[] = [];
  /** What the server has replied to requests whose body is malformed or late. */
  readonly #replied = new WeakMap<IncomingMessage, Reply>();

  constructor(options: HttpApiOptions) {
    const { description = openApiDescription, swaggerUiFolder, routes = [], basePath = '' } = options;
    const { log, accessLog = true } = options;
    const operations = new Operations(options);
    this.#log = log;
    this.#accessLog = accessLog ? log : undefined;
    this.load = operations;
    const page = swaggerUiFolder === undefined ? [] : docsRoutes(swaggerUiFolder);
    const all = [...operations.routes, descriptionRoute(description), ...page, ...routes];
    this.endpoints = Array.from(groupByPath(all), ([path, methods]) => ({
      path: basePath + path,
      handle: (request) => this.#handle(request, methods, path),
    }));
  }

  /** Calls `observer` at the end of each request, for example to count it. */
  observe(observer: (request: FinishedRequest) => void): void {
    this.#observers.push(observer);
  }

  /** Logs a failure of the framework, such as a reply that it cannot write, and returns the reply to write instead. */
  fail({ res }: HttpRequest, failure: unknown): Reply {
    const requestId = identify(res);
    if (!res.headersSent) {
      // Those of the other reply.
      for (const name of res.getHeaderNames()) res.removeHeader(name);
      res.setHeader(REQUEST_ID, requestId);
    }
    const reply = failureReply(failure);
    this.#log?.error({ requestId, error: reply.log?.error, err: failure }, 'request failed');
    return reply;
  }

  /**
   * Returns the reply to malformed HTTP or a late request; `undefined` if the connection is broken.
   * @param res The response to the request in whose body this happened, if any. Its handler logs the reply.
   */
  handleClientError(error: Error, res?: ServerResponse): Reply | undefined {
    const apiError = toClientError(error);
    if (apiError === undefined) return undefined;
    const requestId = res ? identify(res) : randomUUID();
    const reply = errorReply({ ...apiError, headers: { [REQUEST_ID]: requestId } }, { reason: apiError.message });
    if (res) this.#replied.set(res.req, reply);
    else this.#report(reply, { requestId });
    return reply;
  }

  /** Responds, and reports the end of the request. */
  async #handle(request: HttpRequest, methods: Methods, route?: string): Promise<Reply> {
    const start = performance.now();
    const { req, res, originalUrl: url = req.url ?? '' } = request;
    const requestId = identify(res);
    let reply: Reply;
    try {
      reply = await respond(request, url, methods);
    } catch (failure) {
      reply = failureReply(failure);
    }
    const { cause, reason, principal } = reply.log ?? {};
    const replied = this.#replied.get(req);
    if (replied) reply = { ...replied, log: { ...replied.log, principal } };
    // The client has disconnected.
    else if (req.errored) reply = { ...reply, log: { cause, reason, principal, aborted: true } };
    const durationMs = Math.round((performance.now() - start) * 1000) / 1000;
    this.#report(reply, { requestId, traceparent: toTraceparent(req), method: req.method, url, route, durationMs });
    return reply;
  }

  /** Tells the observers of the end of a request, and logs it. */
  #report(reply: Reply, { requestId, traceparent, method, url = '', route, durationMs }: ReportedRequest): void {
    const { error, cause, reason, principal, aborted } = reply.log ?? {};
    const status = aborted ? undefined : reply.status;
    for (const observe of this.#observers) observe({ method, route, status, error, durationMs });
    if (cause !== undefined) this.#log?.error({ requestId, traceparent, error, err: cause }, 'request failed');
    if (this.#accessLog === undefined) return;
    const path = escapeControls(/^\/[^?#]*/.exec(url)?.[0].slice(0, MAX_LOGGED_PATH_LENGTH));
    const client = { subject: escapeControls(principal?.subject), issuer: escapeControls(principal?.issuer) };
    const fields = { requestId, traceparent, method, path, ...client, status, error, reason, aborted, durationMs };
    this.#accessLog.info(fields, 'request');
  }
}

/** Returns the routes by path, then by method. Throws if there are several for both. */
function groupByPath(routes: readonly HttpRoute[]): Map<string, Map<string, HttpRoute>> {
  const paths = new Map<string, Map<string, HttpRoute>>();
  for (const route of routes) {
    const methods = paths.get(route.path) ?? new Map<string, HttpRoute>();
    if (methods.has(route.method)) throw new TypeError(`there is already a route for ${route.method} ${route.path}`);
    methods.set(route.method, route);
    if (route.method === 'GET') methods.set('HEAD', route);
    paths.set(route.path, methods);
  }
  return paths;
}

/** Responds with the route of the method. */
function respond(request: HttpRequest, url: string, methods: Methods): Reply | Promise<Reply> {
  const { req } = request;
  if (req.rawHeaders.length > 2 * MAX_HEADERS) return errorReply(apiErrors.headersTooLarge);
  // Frameworks would accept other forms of a target, and ignore a fragment.
  if (methods.size === 0 || !/^\/[^#]*$/.test(url)) return errorReply(apiErrors.noSuchPath);
  const route = methods.get(req.method ?? '');
  if (route) return route.respond(request);
  const Allow = [...methods.keys()].sort().join(', ');
  return errorReply({ ...apiErrors.methodNotAllowed, headers: { Allow } });
}

/** Returns the error for what Node reports about a client; `undefined` if the connection is broken. */
function toClientError(error: Error): ApiError | undefined {
  const code = 'code' in error ? `${error.code}` : '';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return apiErrors.requestTimeout;
  if (code === 'HPE_HEADER_OVERFLOW') return apiErrors.headersTooLarge;
  return code.startsWith('HPE_') ? apiErrors.malformedHttp : undefined;
}

/** Returns the id of a request, and adds it to the response. Of repeated headers, the first counts; Node joins them. */
function identify(res: ServerResponse): string {
  const [sent] = /^[\w.:-]{1,128}(?=, |$)/.exec(`${res.req.headers['x-request-id'] ?? ''}`) ?? [];
  const requestId = `${res.getHeader(REQUEST_ID) ?? sent ?? randomUUID()}`;
  if (!res.headersSent) res.setHeader(REQUEST_ID, requestId);
  return requestId;
}

/** Returns the trace of which the request is a part, if the client sent a valid one (W3C Trace Context §3.2). */
function toTraceparent({ headers }: IncomingMessage): string | undefined {
  return /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.exec(`${headers['traceparent']}`)?.[0];
}

/** Escapes characters with which a terminal executes a command, ends a line or reorders it. */
function escapeControls(text: string | undefined): string | undefined {
  return text?.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u${character.codePointAt(0)?.toString(16).padStart(4, '0')}`;
  });
}
