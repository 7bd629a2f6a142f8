import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, unzip } from 'node:zlib';
import { type ApiError, apiErrors } from '../api/index.js';

/** By `Content-Encoding`. `deflate` is the zlib format (RFC 9110 §8.4.1.2), which `unzip` tells apart from gzip. */
export const decompressors = new Map([
  ['gzip', promisify(unzip)],
  ['deflate', promisify(unzip)],
  ['br', promisify(brotliDecompress)],
]);

/** A body, or why there is none. */
export type Received =
  | { readonly kind: 'received'; readonly body: Uint8Array }
  | { readonly kind: 'rejected'; readonly error: ApiError };

/** Returns the error for a body that is larger than the limit. */
export function tooLarge(limitBytes: number): ApiError {
  return { ...apiErrors.bodyTooLarge, message: `The body is larger than ${limitBytes} bytes` };
}

/**
 * Collects and decompresses a body. Throws if it does not arrive.
 * @param limitBytes Maximum size, before and after decompression.
 */
export async function receive(req: IncomingMessage, encoding: string, limitBytes: number): Promise<Received> {
  const body = await collect(req, limitBytes);
  if (body === undefined) {
    // Node by itself discards only a body that was not read at all.
    req.resume();
    return { kind: 'rejected', error: tooLarge(limitBytes) };
  }
  const decompress = decompressors.get(encoding);
  if (decompress === undefined) return { kind: 'received', body };
  try {
    return { kind: 'received', body: await decompress(body, { maxOutputLength: limitBytes }) };
  } catch (error) {
    if (error instanceof RangeError) return { kind: 'rejected', error: tooLarge(limitBytes) };
    const message = 'The body does not match its Content-Encoding';
    return { kind: 'rejected', error: { ...apiErrors.notJson, message } };
  }
}

/** Collects up to `maxBytes`; returns `undefined` as soon as there are more. */
async function collect(req: IncomingMessage, maxBytes: number): Promise<Uint8Array | undefined> {
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
