import type { IncomingMessage, ServerResponse } from 'node:http';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import { parse as parseContentType } from 'content-type';
import { apiErrors } from '../api/index.js';
import { ApiException } from './api-exception.js';
import { countHeaders } from './exchange.js';

const inflaters = new Map([
  ['', undefined],
  ['identity', undefined],
  ['gzip', createUnzip],
  // The zlib format (RFC 9110 §8.4.1.2), not raw deflate.
  ['deflate', createUnzip],
  ['br', createBrotliDecompress],
]);

const message = 'Content-Encoding must be identity, gzip, deflate or br';
const unknownEncoding = { ...apiErrors.unsupportedMediaType, message };
const damaged = { ...apiErrors.notJson, message: 'The body does not match its Content-Encoding' };

/** Reads the body of a request as it was sent; `undefined` if it has more than `maxBytes`. */
export type CollectBody = (maxBytes: number) => Promise<Uint8Array | undefined>;

/**
 * Checks `Expect`, media type, encoding and size, reserves memory for the body, collects it, and decompresses it.
 * @param limitBytes Maximum size after decompression.
 * @throws {ApiException} 40001, 41301, 41501, 41701, or 50302 if other requests have reserved the memory.
 */
export async function readBody(
  res: ServerResponse,
  limitBytes: number,
  reserve: (bytes: number) => void,
  // A destroyed request does not report the end of a rejected body, so its connection would stay open for longer.
  collect: CollectBody = (maxBytes) => collectBytes(res.req.iterator({ destroyOnReturn: false }), maxBytes),
): Promise<Uint8Array> {
  const { req } = res;
  const { expect = '', 'content-encoding': encoding = '', 'content-length': contentLength } = req.headers;
  if (expect !== '' && expect.toLowerCase() !== '100-continue') throw new ApiException(apiErrors.unknownExpectation);
  if (!isJson(req)) throw new ApiException(apiErrors.unsupportedMediaType);
  if (!inflaters.has(encoding.toLowerCase())) throw new ApiException(unknownEncoding);
  const createInflater = inflaters.get(encoding.toLowerCase());
  // Deflate makes incompressible data larger, by less than this.
  const maxBytes = createInflater ? limitBytes + Math.ceil(limitBytes / 1000) + 1024 : limitBytes;
  if (Number(contentLength) > maxBytes) throw tooLarge(limitBytes);
  reserve(createInflater ? limitBytes : Number(contentLength ?? limitBytes));
  // HTTP/1.0 has no 100 Continue (RFC 9110 §10.1.1).
  if (expect !== '' && req.httpVersion === '1.1') res.writeContinue();

  const received = await untilRejected(req, collect(maxBytes));
  const body = received && createInflater ? await inflate(received, createInflater(), limitBytes) : received;
  if (body === undefined) throw tooLarge(limitBytes);
  reserve(body.length);
  return body;
}

function tooLarge(limitBytes: number): ApiException {
  return new ApiException({ ...apiErrors.bodyTooLarge, message: `The body is larger than ${limitBytes} bytes` });
}

function isJson(req: IncomingMessage): boolean {
  const { 'content-type': contentType = '' } = req.headers;
  const { type, parameters } = parseContentType(contentType);
  const charset = parameters['charset']?.toLowerCase() ?? 'utf-8';
  if (type !== 'application/json' || charset !== 'utf-8' || countHeaders(req, 'content-type') > 1) return false;
  // Parsers use the first or the last of several charsets. Quoted text is not a parameter.
  const unquoted = contentType.replaceAll(/\\./g, '').replaceAll(/"[^"]*"/g, '');
  return unquoted.split(/;\s*charset\s*=/i).length <= 2;
}

/** Collects up to `maxBytes`; returns `undefined` as soon as there are more. */
async function collectBytes(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array | undefined> {
  let collected = Buffer.alloc(0);
  let length = 0;
  for await (const chunk of chunks) {
    const end = length + chunk.length;
    if (end > maxBytes) return undefined;
    // Copies each chunk, because it takes some 400 bytes of memory, and a client can send one per byte.
    if (end > collected.length) collected = Buffer.concat([collected], Math.min(2 * end, maxBytes));
    collected.set(chunk, length);
    length = end;
  }
  return collected.subarray(0, length);
}

type Inflater = ReturnType<typeof createUnzip> | ReturnType<typeof createBrotliDecompress>;

async function inflate(encoded: Uint8Array, inflater: Inflater, maxBytes: number): Promise<Uint8Array | undefined> {
  inflater.end(encoded);
  try {
    const body = await collectBytes(inflater, maxBytes);
    // Bytes after the end of the compressed data are not processed.
    if (body === undefined || inflater.bytesWritten === encoded.length) return body;
  } catch {
    // The data is damaged.
  }
  throw new ApiException(damaged);
}

const rejections = new WeakMap<IncomingMessage, ApiException>();

/** Makes {@link readBody} fail for a request whose body is late or malformed. */
export function rejectBody(req: IncomingMessage, error: ApiException): void {
  rejections.set(req, error);
  req.emit('rejected');
}

function untilRejected<T>(req: IncomingMessage, body: Promise<T>): Promise<T> {
  if (req.complete) return body;
  return new Promise((resolve, reject) => {
    const fail = () => reject(rejections.get(req));
    req.once('rejected', fail);
    body.then(resolve, reject);
    if (rejections.has(req)) fail();
  });
}
