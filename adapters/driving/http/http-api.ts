import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ApiError, apiErrors, type OpenApiDescription, openApiDescription } from '../api/index.js';
import { docsRoutes } from './docs-page.js';
import { type OperationOptions, Operations } from './operations.js';
import { errorReply, failureReply, type HttpRequest, type HttpRoute, jsonReply, type Reply } from './reply.js';

/** Maximum number of headers of a request. */
export const MAX_HEADERS = 100;

const REQUEST_ID = 'X-Request-Id';

/** Maximum length of a logged path. */
const MAX_LOGGED_PATH_LENGTH = 256;

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
  /** Whether to serve the page at `/docs` and redirect `/` to it. @default false */
  readonly docs?: boolean;
  /** Public routes beside the operations. @default none */
  readonly routes?: readonly HttpRoute[] | undefined;
  /** @default none */
  readonly log?: Log;
  /** Whether to log a line per request. @default true */
  readonly accessLog?: boolean;
}

/** Handles a request of any method: resolves to the reply to write, whatever happens, and logs a line. */
export type Handle = (request: HttpRequest) => Promise<Reply>;

/** The HTTP API, for any framework: the framework finds the handler for a path, and writes its reply. */
export class HttpApi {
  /** A handler per path, such as `/plants/{plantId}`. */
  readonly endpoints: readonly { readonly path: string; readonly handle: Handle }[];
  readonly #operations: Operations;
  readonly #options: HttpApiOptions;
  readonly #observers: ((request: FinishedRequest) => void)[] = [];
  /** What the server has replied to requests whose body is malformed or late. */
  readonly #replied = new WeakMap<IncomingMessage, Reply>();

  constructor(options: HttpApiOptions) {
    const { description = openApiDescription, docs = false, routes = [], basePath = '' } = options;
    this.#options = options;
    this.#operations = new Operations(options);
    const pages = [describeRoute(description), ...(docs ? docsRoutes() : []), ...routes];
    this.endpoints = [...groupByPath([...this.#operations.routes, ...pages])].map(([path, methods]) => ({
      path: basePath + path,
      handle: (request) => this.#handle(request, () => dispatch(methods, request), path),
    }));
  }

  /** Number of creates in flight. */
  get inFlight(): number {
    return this.#operations.inFlight;
  }

  /** Memory reserved for their bodies. */
  get inFlightBytes(): number {
    return this.#operations.bodies.inFlightBytes;
  }

  /** Calls `observer` at the end of each request, for example to count it. */
  observe(observer: (request: FinishedRequest) => void): void {
    this.#observers.push(observer);
  }

  /** Handles a request for any other path. */
  notFound(request: HttpRequest): Promise<Reply> {
    return this.#handle(request, () => dispatch(new Map(), request));
  }

  /** Handles a failure of the framework, for example while it writes a reply. */
  fail(request: HttpRequest, failure: unknown): Promise<Reply> {
    return this.#handle(request, () => failureReply(failure));
  }

  /**
   * Returns the reply to malformed HTTP or a late request; `undefined` if the connection is broken.
   * @param res The response to the request in whose body this happened, if any. Its handler logs the reply.
   */
  handleClientError(error: Error, res?: ServerResponse): Reply | undefined {
    const apiError = toClientError(error);
    if (apiError === undefined) return undefined;
    const requestId = `${res?.getHeader(REQUEST_ID) ?? randomUUID()}`;
    const reply = errorReply({ ...apiError, headers: { [REQUEST_ID]: requestId } });
    if (res) this.#replied.set(res.req, reply);
    else this.#report({ ...reply, reason: apiError.message }, requestId);
    return reply;
  }

  /** Sets `X-Request-Id`, and reports the end of the request. */
  async #handle(request: HttpRequest, respond: () => Reply | Promise<Reply>, route?: string): Promise<Reply> {
    const start = performance.now();
    const { req, res, originalUrl = req.url ?? '' } = request;
    const requestId = `${res.getHeader(REQUEST_ID) ?? sentRequestId(req) ?? randomUUID()}`;
    if (!res.headersSent) res.setHeader(REQUEST_ID, requestId);
    let reply: Reply;
    try {
      reply = await respond();
    } catch (failure) {
      reply = failureReply(failure);
    }
    const replied = this.#replied.get(req);
    if (replied) reply = { ...replied, subject: reply.subject };
    const durationMs = Math.round((performance.now() - start) * 1000) / 1000;
    this.#report(reply, requestId, {
      method: req.method,
      path: /^\/[^?#]*/.exec(originalUrl)?.[0].slice(0, MAX_LOGGED_PATH_LENGTH),
      route,
      durationMs,
    });
    return reply;
  }

  /** Logs the end of a request, and tells the observers. */
  #report(
    reply: Reply,
    requestId: string,
    request: Omit<FinishedRequest, 'status' | 'error'> & { readonly path?: string | undefined } = {},
  ) {
    const { log, accessLog = true } = this.#options;
    const { error, cause, reason, subject, isAborted: aborted } = reply;
    const { method, path, route, durationMs } = request;
    const status = aborted ? undefined : reply.status;
    if (cause !== undefined) log?.error({ requestId, error, err: cause }, 'request failed');
    if (log && accessLog) {
      const texts = { path: escapeControls(path), subject: escapeControls(subject) };
      log.info({ requestId, method, ...texts, status, error, reason, aborted, durationMs }, 'request');
    }
    for (const observe of this.#observers) observe({ method, route, status, error, durationMs });
  }
}

/** Returns the routes by path, then by method. */
function groupByPath(routes: readonly HttpRoute[]): Map<string, Map<string, HttpRoute>> {
  const paths = new Map<string, Map<string, HttpRoute>>();
  for (const route of routes) {
    const methods = paths.get(route.path) ?? new Map<string, HttpRoute>();
    if (methods.has(route.method)) throw new TypeError(`two routes for ${route.method} ${route.path}`);
    methods.set(route.method, route);
    if (route.method === 'GET') methods.set('HEAD', route);
    paths.set(route.path, methods);
  }
  return paths;
}

/** Checks the head of a request, and calls the route for its method. */
function dispatch(methods: ReadonlyMap<string, HttpRoute>, request: HttpRequest): Reply | Promise<Reply> {
  const { req, originalUrl: url = req.url ?? '' } = request;
  if (req.rawHeaders.length > 2 * MAX_HEADERS) return errorReply(apiErrors.headersTooLarge);
  // Frameworks would accept other forms of a target, and ignore a fragment.
  if (methods.size === 0 || !/^\/[^#]*$/.test(url)) return errorReply(apiErrors.noSuchPath);
  const route = methods.get(req.method ?? '');
  if (route) return route.respond(request);
  const Allow = [...methods.keys()].sort().join(', ');
  return errorReply({ ...apiErrors.methodNotAllowed, headers: { Allow } });
}

/** Returns the route of the description. Its server is the path prefix, including that of an outer app. */
function describeRoute(description: OpenApiDescription): HttpRoute {
  const respond = ({ req, originalUrl = req.url ?? '' }: HttpRequest): Reply => {
    const url = originalUrl.replace(/\/openapi\.json(\?.*)?$/, '') || '/';
    return jsonReply(JSON.stringify({ ...description, servers: [{ url }] }));
  };
  return { method: 'GET', path: '/openapi.json', respond };
}

/** Returns the error for what Node reports about a client; `undefined` if the connection is broken. */
function toClientError(error: Error): ApiError | undefined {
  const code = 'code' in error ? `${error.code}` : '';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return apiErrors.requestTimeout;
  if (code === 'HPE_HEADER_OVERFLOW') return apiErrors.headersTooLarge;
  return code.startsWith('HPE_') ? apiErrors.malformedHttp : undefined;
}

/** Returns the id that the client sent, if it is valid. Of repeated headers, the first counts; Node joins them. */
function sentRequestId({ headers }: IncomingMessage): string | undefined {
  return /^[\w.:-]{1,128}(?=, |$)/.exec(`${headers['x-request-id'] ?? ''}`)?.[0];
}

/** Escapes characters with which a terminal executes a command, ends a line or reorders it. */
function escapeControls(text: string | undefined): string | undefined {
  return text?.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u${character.codePointAt(0)?.toString(16).padStart(4, '0')}`;
  });
}
