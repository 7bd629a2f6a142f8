import { STATUS_CODES } from 'node:http';
import type { Router } from '@koa/router';
import type { Principal, TokenVerifier } from '@plant-store/core';
import type { Middleware } from 'koa';
import { apiErrors, authenticate, type PlantCodec, toApiError } from '../api/index.js';
import type { ApiContext, ApiMiddleware, CreateState, HttpCreatePlant, Load, RequestState } from './context.js';
import { fail, reject } from './context.js';

/** Calls `respond` if a middleware fails. */
export function handleErrors(respond: (ctx: ApiContext, error: unknown) => void): ApiMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      respond(ctx, error);
    }
  };
}

/** Responds to an error as Koa does, by its members `status`, `expose` and `headers`, but with an Error object. */
export function respondAsKoa(ctx: ApiContext, failure: unknown): void {
  const { status, expose, message, headers } = Object(failure);
  const text = STATUS_CODES[status];
  if (text === undefined || status === 500) fail(ctx, failure);
  else reject(ctx, { error: 100 * status, message: expose ? message : text, headers });
}

/** Responds 404 or 405 if no middleware has responded. */
export function rejectUnknown(router: Router<RequestState>): ApiMiddleware {
  return async (ctx, next) => {
    // The router reads the host. Koa looks for a user in it, in a time that is quadratic in its length.
    if (ctx.headers.host?.includes('@')) ctx.headers.host = '';
    await next();
    if (ctx.status !== 404 || ctx.body != null || ctx.respond === false) return;
    const methods = router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods);
    const headers = { Allow: [...new Set(methods)].sort().join(', ') };
    reject(ctx, methods.length > 0 ? { ...apiErrors.methodNotAllowed, headers } : apiErrors.noSuchPath);
  };
}

export function limitInFlight(load: Load, maximum: number): ApiMiddleware {
  return (ctx, next) => {
    if (load.inFlight >= maximum) return reject(ctx, apiErrors.overloaded);
    load.inFlight++;
    return next().finally(() => load.inFlight--);
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

/** Reserves memory for the body, and rejects one that is too large. */
export function reserveBytes(load: Load, maxInFlightBytes: number, limitBytes: number): Middleware<CreateState> {
  const message = `The body is larger than ${limitBytes} bytes, or consists of very small chunks`;
  const tooLarge = { ...apiErrors.bodyTooLarge, message };
  return async (ctx, next) => {
    const length = Number(ctx.headers['content-length'] ?? limitBytes);
    if (length > limitBytes) return reject(ctx, tooLarge);
    if (load.inFlightBytes + length > maxInFlightBytes) return reject(ctx, apiErrors.overloaded);
    load.inFlightBytes += length;
    ctx.state.reservedBytes = length;
    try {
      await next();
    } catch (error) {
      // The body parser's: the body is too large, or the client has left.
      if (ctx.state.body || (Object(error).status !== 413 && !ctx.req.errored)) throw error;
      // Discards the rest, which the parser leaves unread.
      ctx.req.resume();
      reject(ctx, tooLarge);
    } finally {
      load.inFlightBytes -= ctx.state.reservedBytes;
    }
  };
}

/** Maximum number of chunks of a body, plus one for every 100 bytes. A chunk takes some 400 bytes of memory. */
const MAX_CHUNKS = 2000;

/** Prepares koa-bodyparser, and makes it reject a body of very small chunks. */
export const prepareParser: Middleware<CreateState> = (ctx, next) => {
  // HTTP/1.0 has no 100 Continue (RFC 9110 §10.1.1).
  if (ctx.headers.expect && ctx.req.httpVersion === '1.1') ctx.res.writeContinue();
  // An outer app may have disabled it, or have a parser of other types, which has left an empty object.
  Object.assign(ctx, { disableBodyParser: false });
  if (ctx.request.rawBody === undefined) ctx.request.body = undefined;
  if (ctx.state.reservedBytes <= MAX_CHUNKS) return next();
  let [chunks, bytes] = [0, 0];
  const onData = (chunk: Uint8Array) => {
    chunks++;
    bytes += chunk.length;
    if (chunks <= MAX_CHUNKS + bytes / 100) return;
    ctx.req.off('data', onData).emit('error', Object.assign(new Error('very small chunks'), { status: 413 }));
  };
  // The parser no longer listens once it has rejected the body, and an error without a listener would end the process.
  ctx.req.on('data', onData).on('error', () => {});
  return next();
};

/** Options of koa-bodyparser: text, because its JSON mode rounds ids, without an encoding, so that it returns bytes. */
export const PARSER_OPTIONS = { enableTypes: ['text'], extendTypes: { text: ['application/json'] }, encoding: '' };

/** Takes the bytes of the body, and releases the memory that was reserved for more. */
export function takeBytes(load: Load): Middleware<CreateState> {
  return (ctx, next) => {
    const raw: unknown = ctx.request.rawBody ?? '';
    // A parser of an outer app has read it as UTF-8.
    ctx.state.body = raw instanceof Uint8Array ? raw : Buffer.from(`${raw}`);
    load.inFlightBytes += ctx.state.body.length - ctx.state.reservedBytes;
    ctx.state.reservedBytes = ctx.state.body.length;
    return next();
  };
}

/** Creates the plant, with the use case or with a function that returns it for the authenticated client. */
export function create(
  createPlant: HttpCreatePlant | ((principal: Principal) => HttpCreatePlant | Promise<HttpCreatePlant>),
  codec: PlantCodec,
): Middleware<CreateState> {
  return async (ctx) => {
    const decoded = codec.decodeNewPlant(ctx.state.body);
    if (decoded.kind === 'rejected') return reject(ctx, decoded.error);
    const useCase = typeof createPlant === 'function' ? await createPlant(ctx.state.principal) : createPlant;
    const outcome = await useCase.execute(decoded.newPlant);
    if (outcome.kind === 'rejected') return fail(ctx, outcome.error, toApiError(outcome));
    if (outcome.kind !== 'created') return reject(ctx, toApiError(outcome));
    // Before the body, so that Koa does not look for the type of a string.
    ctx.set('Content-Type', 'application/json');
    ctx.body = codec.encodePlant(outcome.plant);
  };
}
