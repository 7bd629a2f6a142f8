import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { type BrotliDecompress, createBrotliDecompress, createUnzip, type Unzip } from 'node:zlib';
import { parse as parseContentType } from 'content-type';
import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { rejections } from '../wire/index.js';
import type { Place } from './admission.js';
import { countOf } from './headers.js';
import { Refusal } from './refusal.js';

/** A client that left before its request was complete; there is nobody to answer. */
export class ClientLeft extends Error {
  override readonly name = 'ClientLeft';
}

const damaged = { ...rejections.notJson, message: 'The body does not match its Content-Encoding' };

/** The body of a request as bytes, inflated. */
export type ReadBody = (ctx: Context, place: Place) => Promise<Uint8Array>;

/**
 * Reads bodies of up to `limitBytes`, by koa-bodyparser in text mode without an encoding, which hands over bytes: its
 * JSON mode rounds numbers, its other text modes replace what is not UTF-8. Inflating is done here, before it, so that
 * what is inflated is counted while it grows, a damaged encoding is told from a defect, and a client that leaves in the
 * middle is noticed.
 */
export function bodyReader(limitBytes: number): ReadBody {
  const options = {
    enableTypes: ['text'],
    extendTypes: { text: ['application/json'] },
    encoding: '',
    textLimit: `${limitBytes}`,
  };
  const collect = bodyParser(options);
  const tooLarge = { ...rejections.bodyTooLarge, message: `The body is larger than ${limitBytes} bytes` };
  // Deflate may grow what it cannot shrink, by less than this.
  const encodedLimitBytes = limitBytes + Math.ceil(limitBytes / 1000) + 1024;

  return async (ctx, place) => {
    assertExpectation(ctx);
    assertMediaType(ctx);
    const inflater = inflaterFor(ctx);
    const sentBytesMax = inflater ? encodedLimitBytes : limitBytes;
    if (Number(ctx.get('Content-Length')) > sentBytesMax) throw new Refusal(tooLarge);
    const { req } = ctx;
    const failure = failures.get(req);
    if (failure) throw failure;
    if (req.destroyed && !req.complete) throw new ClientLeft();
    // A client of HTTP/1.0 does not know 100 Continue (RFC 9110 §10.1.1).
    if (ctx.get('Expect') !== '' && req.httpVersion === '1.1') ctx.res.writeContinue();

    // koa-bodyparser reads the headers of its stream; what is inflated here has none that count.
    const source = inflater ? req.pipe(Object.assign(inflater, { headers: {} })) : req;
    const stop = (reason: Error) => emitError(source, reason);
    let encodedBytes = 0;
    const countEncoded = (chunk: Buffer) => {
      encodedBytes += chunk.length;
      if (encodedBytes > encodedLimitBytes) stop(new Refusal(tooLarge));
    };
    const count = (chunk: Buffer) => {
      if (!place.hold(chunk.length)) stop(new Refusal(rejections.overloaded));
    };
    source.on('data', count);
    if (inflater) {
      req.on('data', countEncoded);
      req.on('error', (error) => stop(error instanceof Refusal ? error : new ClientLeft()));
    }
    req.once('close', () => {
      if (!req.complete) stop(new ClientLeft());
    });

    try {
      if (inflater) {
        await collect(Object.create(ctx, { req: { value: source } }), async () => {});
        if (!req.readableEnded) await restOf(req);
        // Bytes behind the end of the encoding are not written to the inflater.
        if (inflater.bytesWritten !== encodedBytes) throw new Refusal(damaged);
      } else {
        // koa-bodyparser knows `identity` in small letters alone.
        delete req.headers['content-encoding'];
        await collect(ctx, async () => {});
      }
    } catch (error) {
      if (error instanceof Refusal || error instanceof ClientLeft) throw error;
      const type = error instanceof Error && 'type' in error ? error.type : undefined;
      if (type === 'entity.too.large') throw new Refusal(tooLarge);
      if (type === 'request.aborted') throw new ClientLeft();
      if (inflater)
        throw new Refusal({ ...rejections.notJson, message: 'The body does not match its Content-Encoding' });
      throw error;
    } finally {
      source.off('data', count);
      req.off('data', countEncoded);
      inflater?.destroy();
    }
    const { body } = ctx.request;
    return body instanceof Uint8Array ? body : new Uint8Array();
  };
}

/** Waits for the end of a request whose encoded body is over, or for the first byte too many. */
async function restOf(req: IncomingMessage): Promise<void> {
  req.resume();
  try {
    await Promise.race([once(req, 'end'), once(req, 'data')]);
  } catch (error) {
    throw error instanceof Refusal ? error : new ClientLeft();
  }
}

const failures = new WeakMap<IncomingMessage, Refusal>();

/** Ends the reading of a body, now or when it begins, because the rest of it will never come. */
export function failBody(req: IncomingMessage, refusal: Refusal): void {
  failures.set(req, refusal);
  emitError(req, refusal);
}

/** An error at a stream that is not destroyed: destroying a request would take the socket, and the answer, along. */
function emitError(stream: Readable, error: Error): void {
  if (stream.listenerCount('error') > 0) stream.emit('error', error);
}

function assertExpectation(ctx: Context): void {
  const expectation = ctx.get('Expect');
  if (expectation !== '' && expectation.toLowerCase() !== '100-continue')
    throw new Refusal(rejections.unknownExpectation);
}

function assertMediaType(ctx: Context): void {
  if (countOf(ctx, 'content-type') > 1) throw new Refusal(rejections.unsupportedMediaType);
  const contentType = ctx.get('Content-Type');
  const { type, parameters } = parseContentType(contentType);
  const charset = parameters['charset']?.toLowerCase();
  const isUtf8 = charset === undefined || (charset === 'utf-8' && !namesCharsetTwice(contentType));
  if (type !== 'application/json' || !isUtf8) throw new Refusal(rejections.unsupportedMediaType);
}

/** Of several the parser keeps the first, another reader perhaps the last. What stands in quotes is no parameter. */
function namesCharsetTwice(contentType: string): boolean {
  const outsideQuotes = contentType
    .replaceAll(/\\./g, '')
    .split('"')
    .filter((_, index) => index % 2 === 0);
  return (outsideQuotes.join('').match(/;\s*charset\s*=/gi)?.length ?? 0) > 1;
}

function inflaterFor(ctx: Context): Unzip | BrotliDecompress | undefined {
  switch (ctx.get('Content-Encoding').toLowerCase()) {
    case '':
    case 'identity':
      return undefined;
    case 'gzip':
    case 'deflate':
      return createUnzip();
    case 'br':
      return createBrotliDecompress();
    default:
      throw new Refusal({
        ...rejections.unsupportedMediaType,
        message: 'Content-Encoding must be identity, gzip, deflate or br',
      });
  }
}
