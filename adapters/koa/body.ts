import type { IncomingMessage } from 'node:http';
import { type BrotliDecompress, createBrotliDecompress, createUnzip, type Unzip } from 'node:zlib';
import { parse as parseContentType } from 'content-type';
import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { apiErrors } from '../api/index.js';
import type { Permit } from './admission-control.js';
import { HttpError } from './http-error.js';
import { countHeader } from './request-head.js';

type Inflater = Unzip | BrotliDecompress;

const inflaters = new Map<string, (() => Inflater) | undefined>([
  ['', undefined],
  ['identity', undefined],
  ['gzip', createUnzip],
  ['deflate', createUnzip],
  ['br', createBrotliDecompress],
]);

const message = 'Content-Encoding must be identity, gzip, deflate or br';
const unknownEncoding = { ...apiErrors.unsupportedMediaType, message };
const damaged = { ...apiErrors.notJson, message: 'The body does not match its Content-Encoding' };

/** Creates a function that reads bodies of up to `limitBytes` after decompression. */
export function createBodyReader(limitBytes: number): (ctx: Context, permit: Permit) => Promise<Uint8Array> {
  // Deflate makes incompressible data larger, by less than this.
  const maxEncodedBytes = limitBytes + Math.ceil(limitBytes / 1000) + 1024;
  const textLimit = `${maxEncodedBytes}`;
  // Text mode without an encoding returns raw bytes; an encoding replaces invalid UTF-8, and JSON mode rounds ids.
  const options = { enableTypes: ['text'], extendTypes: { text: ['application/json'] }, encoding: '', textLimit };
  const collect = bodyParser(options);
  const tooLarge = { ...apiErrors.bodyTooLarge, message: `The body is larger than ${limitBytes} bytes` };

  return async (ctx, permit) => {
    const { req, res } = ctx;
    const { expect = '', 'content-encoding': encoding = '', 'content-length': contentLength } = req.headers;
    if (expect !== '' && expect.toLowerCase() !== '100-continue') throw new HttpError(apiErrors.unknownExpectation);
    if (!isJson(req)) throw new HttpError(apiErrors.unsupportedMediaType);
    if (!inflaters.has(encoding.toLowerCase())) throw new HttpError(unknownEncoding);
    const createInflater = inflaters.get(encoding.toLowerCase());
    const maxBytes = createInflater ? maxEncodedBytes : limitBytes;
    if (Number(contentLength) > maxBytes) throw new HttpError(tooLarge);
    permit.reserve(createInflater ? limitBytes : Number(contentLength ?? limitBytes));
    // HTTP/1.0 has no 100 Continue (RFC 9110 §10.1.1).
    if (expect !== '' && req.httpVersion === '1.1') res.writeContinue();

    // koa-bodyparser would decompress, but ignore bytes after the end, and never settle if the client disconnects.
    delete req.headers['content-encoding'];
    await collect(ctx, async () => {}).catch((error: unknown) => {
      const isTooLarge = error instanceof Error && 'type' in error && error.type === 'entity.too.large';
      throw isTooLarge ? new HttpError(tooLarge) : (req.errored ?? error);
    });
    // Without a body, koa-bodyparser leaves an empty object.
    const received = ctx.request.body instanceof Uint8Array ? ctx.request.body : new Uint8Array();
    if (received.length > maxBytes) throw new HttpError(tooLarge);
    const body = createInflater ? await inflate(received, createInflater(), limitBytes) : received;
    if (body === undefined) throw new HttpError(tooLarge);
    permit.reserve(body.length);
    return body;
  };
}

function isJson(req: IncomingMessage): boolean {
  const { 'content-type': contentType = '' } = req.headers;
  const { type, parameters } = parseContentType(contentType);
  const charset = parameters['charset']?.toLowerCase() ?? 'utf-8';
  if (type !== 'application/json' || charset !== 'utf-8' || countHeader(req, 'content-type') > 1) return false;
  // Parsers use the first or the last of several charsets. Quoted text is not a parameter.
  const unquoted = contentType.replaceAll(/\\./g, '').replaceAll(/"[^"]*"/g, '');
  return unquoted.split(/;\s*charset\s*=/i).length <= 2;
}

/** Decompresses up to `maxBytes`; returns `undefined` as soon as there are more. */
async function inflate(encoded: Uint8Array, inflater: Inflater, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    inflater.end(encoded);
    // Leaving the loop stops the inflater.
    for await (const chunk of inflater) {
      length += chunk.length;
      if (length > maxBytes) return undefined;
      chunks.push(chunk);
    }
  } catch {
    throw new HttpError(damaged);
  }
  // Bytes after the end of the compressed data are not processed.
  if (inflater.bytesWritten !== encoded.length) throw new HttpError(damaged);
  return Buffer.concat(chunks);
}
