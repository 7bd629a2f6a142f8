import type { Router } from '@koa/router';
import type { CreatePlantOutcome, NewPlant, Principal, TokenVerifier } from '@plant-store/core';
import Koa, { type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import {
  apiErrors,
  authenticate,
  type Declined,
  failureToApiError,
  type PlantCodec,
  toApiError,
} from '../api/index.js';
import { type ApiContext, type ApiMiddleware, type RequestState, reject } from './context.js';

/** What creates plants: the use case of the core, or a decorator of it that declines some. */
export interface HttpCreatePlant {
  execute(newPlant: NewPlant): Promise<CreatePlantOutcome | Declined>;
}

/** Counts the creates in flight, and the memory reserved for their bodies. */
export interface Load {
  inFlight: number;
  inFlightBytes: number;
}

/** What the create of an authenticated client has on `ctx.state`. */
export interface CreateState extends RequestState {
  principal: Principal;
  /** The bytes of the body. */
  body: Uint8Array;
}

/** Responds with an Error object to failures; to one of `ctx.throw` with its status and message. */
export const handleFailures: ApiMiddleware = async (ctx, next) => {
  try {
    await next();
  } catch (failure) {
    if (failure instanceof Koa.HttpError && failure.expose) {
      const { status, message, headers } = failure;
      reject(ctx, { error: 100 * status, message, headers });
      return;
    }
    // The body of a client that has disconnected is not readable.
    if (!ctx.req.errored || !(failure instanceof Koa.HttpError)) ctx.state.failure = failure;
    reject(ctx, failureToApiError(failure));
  }
};

/** Responds 404 or 405 if no middleware has responded. */
export function rejectUnknown(router: Router<RequestState>): ApiMiddleware {
  return async (ctx, next) => {
    // The router reads the host. Koa looks for a user in it, in a time that is quadratic in its length.
    if (ctx.headers.host?.includes('@')) ctx.headers.host = '';
    await next();
    if (ctx.status !== 404 || ctx.body != null) return;
    const methods = router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods);
    const headers = { Allow: [...new Set(methods)].sort().join(', ') };
    reject(ctx, methods.length > 0 ? { ...apiErrors.methodNotAllowed, headers } : apiErrors.noSuchPath);
  };
}

export function limitInFlight(load: Load, maximum: number): ApiMiddleware {
  return async (ctx, next) => {
    if (load.inFlight >= maximum) return reject(ctx, apiErrors.overloaded);
    load.inFlight++;
    try {
      await next();
    } finally {
      load.inFlight--;
    }
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

/** Reserves memory for the body, and reads it. */
export function readBody(load: Load, maxInFlightBytes: number, limitBytes: number): Middleware<CreateState> {
  // Latin-1 has a character per byte. Without an encoding, each chunk would take 400 bytes of memory instead of 70.
  const mode = { enableTypes: ['text'], extendTypes: { text: ['application/json'] }, encoding: 'latin1' };
  const parse = bodyParser({ ...mode, textLimit: `${limitBytes}b` });
  const tooLarge = { ...apiErrors.bodyTooLarge, message: `The body is larger than ${limitBytes} bytes` };
  return async (ctx, next) => {
    let reserved = Number(ctx.headers['content-length'] ?? limitBytes);
    if (reserved > limitBytes) return reject(ctx, tooLarge);
    if (load.inFlightBytes + reserved > maxInFlightBytes) return reject(ctx, apiErrors.overloaded);
    load.inFlightBytes += reserved;
    try {
      const body = await read(ctx, parse);
      load.inFlightBytes += body.length - reserved;
      reserved = body.length;
      ctx.state.body = body;
      await next();
    } catch (failure) {
      if (!(failure instanceof Koa.HttpError) || failure.status !== 413) throw failure;
      // Discards the rest, which the parser leaves unread.
      ctx.req.resume();
      reject(ctx, tooLarge);
    } finally {
      load.inFlightBytes -= reserved;
    }
  };
}

async function read(ctx: ApiContext, parse: Middleware): Promise<Uint8Array> {
  // HTTP/1.0 has no 100 Continue (RFC 9110 §10.1.1).
  if (ctx.headers.expect && ctx.req.httpVersion === '1.1') ctx.res.writeContinue();
  // A parser of an outer app has read the body as UTF-8.
  const { rawBody } = ctx.request;
  if (rawBody !== undefined) return Buffer.from(`${rawBody}`);
  // Or it has left an empty object.
  ctx.request.body = undefined;
  await parse(ctx, async () => {});
  return Buffer.from(`${ctx.request.rawBody ?? ''}`, 'latin1');
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
    if (outcome.kind !== 'created') {
      if (outcome.kind === 'rejected') ctx.state.failure = outcome.error;
      return reject(ctx, toApiError(outcome));
    }
    // Before the body, so that Koa does not look for the type of a string.
    ctx.set('Content-Type', 'application/json');
    ctx.body = codec.encodePlant(outcome.plant);
  };
}
