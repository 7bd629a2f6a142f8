import type { CreatePlantOutcome, NewPlant, Principal, TokenVerifier } from '@plant-store/core';
import Koa, { type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import {
  type ApiError,
  apiErrors,
  authenticate,
  type Declined,
  failureToApiError,
  type PlantCodec,
  toApiError,
} from '../api/index.js';
import { type ApiContext, type ApiMiddleware, type RequestState, reject, sendJson } from './context.js';

/** What creates plants: the use case of the core, or a decorator of it that declines some. */
export interface HttpCreatePlant {
  execute(newPlant: NewPlant): Promise<CreatePlantOutcome | Declined>;
}

/** Counts the creates in flight, and the memory reserved for their bodies. */
export interface Load {
  inFlight: number;
  inFlightBytes: number;
}

/** Responds with an Error object to failures; to those of `ctx.throw` with their status and message. */
export const handleFailures: ApiMiddleware = async (ctx, next) => {
  try {
    await next();
  } catch (failure) {
    if (failure instanceof Koa.HttpError && failure.expose) {
      const { status, message, headers } = failure;
      reject(ctx, { error: 100 * status, message, headers });
    } else {
      // A body of a client that has disconnected is not readable.
      if (!ctx.req.errored || !(failure instanceof Koa.HttpError)) ctx.state.failure = failure;
      reject(ctx, failureToApiError(failure));
    }
  }
};

export function limitInFlight(load: Load, maximum: number): ApiMiddleware {
  return async (ctx, next) => {
    if (load.inFlight >= maximum) return reject(ctx, apiErrors.overloaded);
    load.inFlight++;
    await next().finally(() => load.inFlight--);
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

export function checkHeaders(bodyLimitBytes: number): ApiMiddleware {
  return (ctx, next) => {
    const { expect, 'content-type': type = '', 'content-encoding': encoding, 'content-length': length } = ctx.headers;
    if (expect && expect.toLowerCase() !== '100-continue') return reject(ctx, apiErrors.unknownExpectation);
    if (!/^application\/json[\t ]*(;|$)/i.test(type)) return reject(ctx, apiErrors.unsupportedMediaType);
    if (encoding && encoding.toLowerCase() !== 'identity') return reject(ctx, apiErrors.unsupportedEncoding);
    if (Number(length) > bodyLimitBytes) return reject(ctx, tooLarge(bodyLimitBytes));
    return next();
  };
}

function tooLarge(bytes: number): ApiError {
  return { ...apiErrors.bodyTooLarge, message: `The body is larger than ${bytes} bytes` };
}

/** What the middlewares of an authenticated client's create add to the state. */
export interface CreateState extends RequestState {
  principal: Principal;
  /** The bytes of the body. */
  body: Uint8Array;
}

type CreateMiddleware = Middleware<CreateState>;

/** Reserves memory for the body, and reads it. */
export function readBody(load: Load, maxInFlightBytes: number, bodyLimitBytes: number): CreateMiddleware {
  const parseBytes = createParser('', bodyLimitBytes);
  const parseText = createParser('latin1', bodyLimitBytes);
  return async (ctx, next) => {
    const length = Number(ctx.headers['content-length'] ?? bodyLimitBytes);
    if (load.inFlightBytes + length > maxInFlightBytes) return reject(ctx, apiErrors.overloaded);
    load.inFlightBytes += length;
    let reserved = length;
    try {
      const body = await read(ctx, length > MAX_BYTES ? parseText : parseBytes);
      load.inFlightBytes += body.length - reserved;
      reserved = body.length;
      ctx.state.body = body;
      await next();
    } catch (failure) {
      if (!(failure instanceof Koa.HttpError) || failure.status !== 413) throw failure;
      // Discards the rest, which the parser leaves unread.
      ctx.req.resume();
      reject(ctx, tooLarge(bodyLimitBytes));
    } finally {
      load.inFlightBytes -= reserved;
    }
  };
}

/** Maximum size of a body that is read as bytes. Each chunk takes some 400 bytes of memory then, as text only 70. */
const MAX_BYTES = 1024;

/** Returns koa-bodyparser in text mode, because JSON mode rounds ids. Without an encoding, it returns bytes. */
function createParser(encoding: '' | 'latin1', limitBytes: number): Middleware {
  const types = { enableTypes: ['text'], extendTypes: { text: ['application/json'] } };
  const options = { ...types, encoding, textLimit: `${limitBytes}b` };
  return bodyParser(options);
}

async function read(ctx: ApiContext, parse: Middleware): Promise<Uint8Array> {
  // A parser of an outer app has read it, as UTF-8.
  const isParsed = ctx.request.rawBody !== undefined;
  // It leaves an empty object if it has not.
  if (!isParsed) ctx.request.body = undefined;
  // The parser knows no other spelling of `identity`.
  if (ctx.headers['content-encoding']) ctx.headers['content-encoding'] = 'identity';
  // HTTP/1.0 has no 100 Continue (RFC 9110 §10.1.1).
  if (ctx.headers.expect && ctx.req.httpVersion === '1.1') ctx.res.writeContinue();
  await parse(ctx, async () => {});
  const raw: unknown = ctx.request.rawBody ?? '';
  return raw instanceof Uint8Array ? raw : Buffer.from(`${raw}`, isParsed ? 'utf8' : 'latin1');
}

/** Creates the plant, with the use case or with a function that returns it for the authenticated client. */
export function create(
  createPlant: HttpCreatePlant | ((principal: Principal) => HttpCreatePlant | Promise<HttpCreatePlant>),
  codec: PlantCodec,
): CreateMiddleware {
  return async (ctx) => {
    const { principal, body } = ctx.state;
    const decoded = codec.decodeNewPlant(body);
    if (decoded.kind === 'rejected') return reject(ctx, decoded.error);
    const useCase = typeof createPlant === 'function' ? await createPlant(principal) : createPlant;
    const outcome = await useCase.execute(decoded.newPlant);
    if (outcome.kind === 'created') return sendJson(ctx, codec.encodePlant(outcome.plant));
    if (outcome.kind === 'rejected') ctx.state.failure = outcome.error;
    reject(ctx, toApiError(outcome));
  };
}
