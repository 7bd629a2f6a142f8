import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, unzip } from 'node:zlib';
import { apiErrors } from '../api/index.js';
import { ApiException } from './api-exception.js';

/** `deflate` is the zlib format (RFC 9110 §8.4.1.2), which `unzip` tells apart from gzip. */
const decompressors = new Map([
  ['gzip', promisify(unzip)],
  ['deflate', promisify(unzip)],
  ['br', promisify(brotliDecompress)],
]);

const unknownEncoding = { ...apiErrors.unsupportedMediaType, message: 'Content-Encoding must be gzip, deflate or br' };
const damaged = { ...apiErrors.notJson, message: 'The body does not match its Content-Encoding' };

/** Reads the body of a request as it was sent; `undefined` if it has more than `maxBytes`. */
export type CollectBody = (maxBytes: number) => Promise<Uint8Array | undefined>;

/**
 * Checks `Expect`, media type, encoding and size, reserves memory for the body, collects it, and decompresses it.
 * @param limitBytes Maximum size before and after decompression.
 * @throws {ApiException} 40001, 41301, 41501, 41701, or 50302 if other requests have reserved the memory.
 */
export async function readBody(
  res: ServerResponse,
  limitBytes: number,
  reserve: (bytes: number) => void,
  collect: CollectBody = (maxBytes) => collectBytes(res.req, maxBytes),
): Promise<Uint8Array> {
  const { headers, httpVersion } = res.req;
  const { 'content-type': type = '', 'content-length': length } = headers;
  // Of repeated headers, the first counts; Node joins these.
  const firstOf = (name: string) => headers[name] && res.req.headersDistinct[name]?.[0]?.toLowerCase();
  const expect = firstOf('expect');
  if (expect && expect !== '100-continue') throw new ApiException(apiErrors.unknownExpectation);
  if (!/^application\/json[\t ]*(;|$)/i.test(type)) throw new ApiException(apiErrors.unsupportedMediaType);
  const encoding = firstOf('content-encoding') || 'identity';
  const decompress = decompressors.get(encoding);
  if (encoding !== 'identity' && !decompress) throw new ApiException(unknownEncoding);
  if (Number(length) > limitBytes) throw tooLarge(limitBytes);
  const isSizeKnown = length !== undefined && !decompress;
  reserve(isSizeKnown ? Number(length) : limitBytes);
  // HTTP/1.0 has no 100 Continue (RFC 9110 §10.1.1).
  if (expect && httpVersion === '1.1') res.writeContinue();

  const received = await collect(limitBytes);
  if (received === undefined) throw tooLarge(limitBytes);
  if (isSizeKnown) return received;
  const body =
    (await decompress?.(received, { maxOutputLength: limitBytes }).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(limitBytes) : new ApiException(damaged);
    })) ?? received;
  reserve(body.length);
  return body;
}

function tooLarge(limitBytes: number): ApiException {
  return new ApiException({ ...apiErrors.bodyTooLarge, message: `The body is larger than ${limitBytes} bytes` });
}

/** Collects up to `maxBytes`; returns `undefined` as soon as there are more. */
async function collectBytes(req: IncomingMessage, maxBytes: number): Promise<Uint8Array | undefined> {
  let collected = Buffer.alloc(0);
  let length = 0;
  // Destroying the request would also destroy the connection.
  for await (const chunk of req.iterator({ destroyOnReturn: false })) {
    const end = length + chunk.length;
    if (end > maxBytes) return undefined;
    // Copies each chunk, because it takes some 400 bytes of memory, and a client can send one per byte.
    if (end > collected.length) collected = Buffer.concat([collected], Math.min(2 * end, maxBytes));
    collected.set(chunk, length);
    length = end;
  }
  return collected.subarray(0, length);
}
