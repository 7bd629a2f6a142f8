import { STATUS_CODES } from 'node:http';
import type { Router } from '@koa/router';
import type { CreatePlantUseCase, TokenVerifier } from '@plant-store/core';
import type { Middleware } from 'koa';
import { apiErrors, authenticate, type Declined, type JsonPlantCodec, toApiError } from '../api/index.js';
import { type ApiMiddleware, type CreateState, fail, type InFlight, reject } from './context.js';

/** Responds to an HTTP error, as Koa does by its members `status`, `expose` and `headers`, but with an Error object. */
export const exposeHttpErrors: ApiMiddleware = (ctx, next) =>
  next().catch((failure) => {
    const { status, expose, message, headers } = Object(failure);
    const text = STATUS_CODES[status];
    if (text === undefined || status < 400 || status === 500) return fail(ctx, failure);
    const apiError = { error: 100 * status, message: expose && typeof message === 'string' ? message : text, headers };
    if (expose && !ctx.headerSent) reject(ctx, apiError);
    else fail(ctx, failure, apiError);
  });

/** Scheme and host of a request target in absolute form (RFC 9112 §3.2), and a fragment. */
const NOT_PATH = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*|#.*/gi;

/** Removes what makes Koa throw or parse slowly: scheme, host and fragment of the target, and a Host with `@`. */
export const cleanTarget: ApiMiddleware = (ctx, next) => {
  ctx.url = ctx.url.replace(NOT_PATH, '') || '/';
  // The URL of Node's request contains the path at which Express mounts the app.
  ctx.originalUrl = `${Reflect.get(ctx.req, 'originalUrl') ?? ctx.originalUrl}`.replace(NOT_PATH, '');
  // Koa parses it as a URL, in quadratic time on Node 20 and 22: 0.2 ms for 4 KB of `@xn--ooo…`, 2 ms for 16 KB.
  if (ctx.headers.host?.includes('@')) ctx.headers.host = '';
  return ctx.url.startsWith('/') ? next() : reject(ctx, apiErrors.noSuchPath);
};

/** Responds 404 or 405 if neither a router nor a later middleware has responded. */
export function rejectUnknown(...routers: readonly Pick<Router, 'match'>[]): ApiMiddleware {
  return async (ctx, next) => {
    await next();
    if (ctx.status !== 404 || ctx.body != null || ctx.respond === false) return;
    const layers = routers.flatMap((router) => router.match(ctx.path, ctx.method).path);
    const methods = layers.flatMap((layer) => layer.methods);
    const headers = { Allow: [...new Set(methods)].sort().join(', ') };
    const isOther = methods.length > 0 && !methods.includes(ctx.method);
    reject(ctx, isOther ? { ...apiErrors.methodNotAllowed, headers } : apiErrors.noSuchPath);
  };
}

/** Responds to every failure with an error of the service, even if it has the members of an HTTP error. */
export const concealFailures: ApiMiddleware = (ctx, next) => next().catch((failure) => fail(ctx, failure));

/** Rejects a request beyond the maximum, and counts the others until their responses are sent or lost. */
export function limitInFlight(inFlight: InFlight, maximum: number): ApiMiddleware {
  return (ctx, next) => {
    if (inFlight.requests >= maximum) return reject(ctx, apiErrors.overloaded);
    inFlight.requests++;
    const release = () => {
      inFlight.requests--;
      inFlight.bytes -= ctx.state.memoryBytes ?? 0;
    };
    // A response without a socket waits for others of its connection, and Node does not tell if it is lost.
    return next().finally(() => (ctx.res.socket && !ctx.res.closed ? ctx.res.once('close', release) : release()));
  };
}

export function checkCredential(tokenVerifier: TokenVerifier): ApiMiddleware {
  return async (ctx, next) => {
    const client = await authenticate(ctx.headers.authorization, tokenVerifier);
    if (client.kind === 'authenticated') {
      ctx.state.principal = client.principal;
      return next();
    }
    ctx.state.reason = client.reason;
    reject(ctx, client.error);
  };
}

export const checkHeaders: ApiMiddleware = (ctx, next) => {
  const { expect, 'content-type': type = '', 'content-encoding': encoding } = ctx.headers;
  if (expect && expect.toLowerCase() !== '100-continue') return reject(ctx, apiErrors.unknownExpectation);
  if (!/^application\/json[\t ]*(;|$)/i.test(type)) return reject(ctx, apiErrors.unsupportedMediaType);
  if (encoding && encoding.toLowerCase() !== 'identity') return reject(ctx, apiErrors.unsupportedEncoding);
  // The parser knows no other spelling.
  if (encoding) ctx.headers['content-encoding'] = 'identity';
  return next();
};

/** Creates the plant for the authenticated client. */
export function create(createPlant: CreatePlantUseCase<Declined>, codec: JsonPlantCodec): Middleware<CreateState> {
  return async (ctx) => {
    const decoded = codec.decodeNewPlant(ctx.state.body);
    if (decoded.kind === 'rejected') return reject(ctx, decoded.error);
    const outcome = await createPlant.execute(decoded.newPlant, ctx.state.principal);
    if (outcome.kind === 'rejected') return fail(ctx, outcome.error, toApiError(outcome));
    if (outcome.kind !== 'created') return reject(ctx, toApiError(outcome));
    // Koa looks for the type of a string unless one is set before.
    ctx.set('Content-Type', 'application/json');
    ctx.body = codec.encodePlant(outcome.plant);
  };
}
