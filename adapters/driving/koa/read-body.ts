import type { Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { type ApiError, apiErrors } from '../api/index.js';
import { type CreateState, fail, type InFlight, reject } from './context.js';

/** Memory of a create per byte of its body: that byte twice, and up to two each for its text, the plant and the response. */
const MEMORY_PER_BYTE = 8;
/** Maximum number of chunks of a body, plus one for every 100 bytes. A chunk takes some 400 bytes of memory. */
const MAX_CHUNKS = 2000;
/** Text, because JSON mode rounds ids, without an encoding, so that it returns bytes, and without a limit of its own. */
const PARSER_OPTIONS = { enableTypes: ['text'], encoding: '', textLimit: '1gb' };
const parse = bodyParser(PARSER_OPTIONS);
const TAKEN = { ...apiErrors.notJson, message: 'Another body parser has read the body, and has set no rawBody' };

/** Reads the body into `ctx.state.body`, and counts the memory of its create, as announced or as it arrives. */
export function readBody(inFlight: InFlight, maxInFlightBytes: number, limitBytes: number): Middleware<CreateState> {
  const message = `The body is larger than ${limitBytes} bytes, or consists of very small chunks`;
  const tooLarge = { ...apiErrors.bodyTooLarge, message };
  /** Reserves the memory of a create, or returns why there is none. One create alone always fits. */
  const reserve = (state: CreateState, bytes: number): ApiError | undefined => {
    if (bytes > limitBytes) return tooLarge;
    const added = Math.min(MEMORY_PER_BYTE * bytes, maxInFlightBytes) - (state.memoryBytes ?? 0);
    if (inFlight.bytes + added > maxInFlightBytes) return apiErrors.overloaded;
    inFlight.bytes += added;
    state.memoryBytes = (state.memoryBytes ?? 0) + added;
    return undefined;
  };
  return async (ctx, next) => {
    const { req, headers } = ctx;
    // What an outer parser has kept: in `rawBody`, or in `body`, as `express.raw` and serverless adapters do.
    const kept: unknown = ctx.request.rawBody ?? Reflect.get(req, 'rawBody') ?? Reflect.get(req, 'body');
    const taken = typeof kept === 'string' || kept instanceof Uint8Array ? Buffer.from(kept) : undefined;
    const announced = taken?.length ?? (Number(headers['content-length']) || 0);
    let [rejection, chunks, bytes] = [reserve(ctx.state, announced), 0, 0];
    if (rejection) return reject(ctx, rejection);
    if (!taken && (req.readableDidRead || !req.readable) && !(req.errored ?? req.aborted))
      return fail(ctx, new Error(TAKEN.message), TAKEN);
    const onData = (chunk: Uint8Array) => {
      bytes += chunk.length;
      rejection = ++chunks > MAX_CHUNKS + bytes / 100 ? tooLarge : reserve(ctx.state, Math.max(bytes, announced));
      if (rejection) req.emit('error', new Error(rejection.message));
    };
    if (!taken && (announced === 0 || announced > MAX_CHUNKS)) req.on('data', onData);
    // HTTP/1.0 has no 100 Continue (RFC 9110 §10.1.1).
    if (!taken && headers.expect && req.httpVersion === '1.1') ctx.res.writeContinue();
    // Read even without a length, which HTTP/2 does not need, and whatever an outer app has parsed or disabled.
    const parsed = { req, request: { body: undefined, rawBody: taken, is: () => true } };
    try {
      if (!taken) await parse(Object(parsed), async () => {});
    } catch (error) {
      req.off('data', onData).resume();
      if (!rejection && !(req.errored ?? req.aborted)) throw error;
      return reject(ctx, rejection ?? apiErrors.requestTimeout);
    }
    ctx.state.body = parsed.request.rawBody ?? new Uint8Array();
    return next();
  };
}
