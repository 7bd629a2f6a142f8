import type { Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { apiErrors } from '../api/index.js';
import { type CreateContext, type CreateState, type Load, reject } from './context.js';

/** Maximum number of chunks of a body, plus one for every 100 bytes. A chunk takes some 400 bytes of memory. */
const MAX_CHUNKS = 2000;

/** Text, because its JSON mode rounds ids, without an encoding, so that it returns bytes. */
const PARSER_OPTIONS = { enableTypes: ['text'], extendTypes: { text: ['application/json'] }, encoding: '' };

/** Reads the body into `ctx.state.body`, and reserves memory for it until the response. */
export function readBody(load: Load, maxInFlightBytes: number, limitBytes: number): Middleware<CreateState> {
  const message = `The body is larger than ${limitBytes} bytes, or consists of very small chunks`;
  const tooLarge = { ...apiErrors.bodyTooLarge, message };
  const parse = bodyParser({ ...PARSER_OPTIONS, textLimit: `${limitBytes}b` });
  return async (ctx, next) => {
    let reserved = Number(ctx.headers['content-length'] ?? limitBytes);
    if (reserved > limitBytes) return reject(ctx, tooLarge);
    if (load.inFlightBytes + reserved > maxInFlightBytes) return reject(ctx, apiErrors.overloaded);
    load.inFlightBytes += reserved;
    try {
      // HTTP/1.0 has no 100 Continue (RFC 9110 §10.1.1).
      if (ctx.headers.expect && ctx.req.httpVersion === '1.1') ctx.res.writeContinue();
      if (reserved > MAX_CHUNKS) limitChunks(ctx);
      const body = await tryParse(ctx, parse);
      if (body === undefined || body.length > limitBytes) return reject(ctx, tooLarge);
      load.inFlightBytes += body.length - reserved;
      reserved = body.length;
      ctx.state.body = body;
      await next();
    } finally {
      load.inFlightBytes -= reserved;
    }
  };
}

/** Makes the parser, which must start in this turn of the event loop, reject a body of very small chunks. */
function limitChunks({ req }: CreateContext): void {
  let [chunks, bytes] = [0, 0];
  const onData = (chunk: Uint8Array) => {
    chunks++;
    bytes += chunk.length;
    if (chunks <= MAX_CHUNKS + bytes / 100) return;
    req.off('data', onData).emit('error', Object.assign(new Error('very small chunks'), { status: 413 }));
  };
  // The parser no longer listens once it has rejected the body, and an error without a listener would end the process.
  req.on('data', onData).on('error', () => {});
}

/** Reads the body. Resolves to `undefined` if it is too large or the client has left. */
async function tryParse(ctx: CreateContext, parse: Middleware<CreateState>): Promise<Uint8Array | undefined> {
  // An outer app may have disabled the parser, or have one of other types, which has left an empty object.
  Object.assign(ctx, { disableBodyParser: false });
  if (ctx.request.rawBody === undefined) ctx.request.body = undefined;
  try {
    await parse(ctx, async () => {});
    const rawBody: unknown = ctx.request.rawBody ?? '';
    // A parser of an outer app has read it as UTF-8.
    return rawBody instanceof Uint8Array ? rawBody : Buffer.from(`${rawBody}`);
  } catch (error) {
    if (Object(error).status !== 413 && !ctx.req.errored) throw error;
    // Discards the rest, which the parser leaves unread.
    ctx.req.resume();
    return undefined;
  }
}
