import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, unzip } from 'node:zlib';
import { type ApiError, apiErrors } from '../api/index.js';
import { ABORTED, errorReply, type HttpRequest, type Reply } from './reply.js';

/** `deflate` is the zlib format (RFC 9110 §8.4.1.2), which `unzip` tells apart from gzip. */
const decompressors = new Map([
  ['gzip', promisify(unzip)],
  ['deflate', promisify(unzip)],
  ['br', promisify(brotliDecompress)],
]);

const unknownEncoding = { ...apiErrors.unsupportedMediaType, message: 'Content-Encoding must be gzip, deflate or br' };
const damaged = { ...apiErrors.notJson, message: 'The body does not match its Content-Encoding' };

/** Limits of {@link BodyReader}. */
export interface BodyLimits {
  /** Maximum size of a body, before and after decompression. @default 1048576 */
  readonly bodyLimitBytes?: number;
  /** Maximum total size of the bodies in use. @default 67108864 */
  readonly maxInFlightBytes?: number;
}

/** Reads bodies within limits. */
export class BodyReader {
  readonly #limitBytes: number;
  readonly #maxInFlightBytes: number;
  /** Memory reserved for the bodies in use. */
  inFlightBytes = 0;

  constructor({ bodyLimitBytes = 1024 ** 2, maxInFlightBytes = 64 * 1024 ** 2 }: BodyLimits) {
    this.#limitBytes = bodyLimitBytes;
    this.#maxInFlightBytes = maxInFlightBytes;
  }

  /** Checks the headers of a body, reserves memory for it, reads it, and calls `use` with it. */
  async withBody(request: HttpRequest, use: (body: Uint8Array) => Promise<Reply>): Promise<Reply> {
    const { req, res } = request;
    const error = this.#checkHeaders(req);
    if (error) return errorReply(error);
    let reserved = plainLength(req) ?? this.#limitBytes;
    if (this.inFlightBytes + reserved > this.#maxInFlightBytes) return errorReply(apiErrors.overloaded);
    this.inFlightBytes += reserved;
    try {
      // HTTP/1.0 has no 100 Continue (RFC 9110 §10.1.1).
      if (req.headers.expect && req.httpVersion === '1.1') res.writeContinue();
      const received = await this.#receive(request);
      if (received.kind === 'rejected') return received.reply;
      this.inFlightBytes += received.body.length - reserved;
      reserved = received.body.length;
      return await use(received.body);
    } finally {
      this.inFlightBytes -= reserved;
    }
  }

  /** Returns the error for what the headers say about the body, if there is one. */
  #checkHeaders(req: IncomingMessage): ApiError | undefined {
    const { 'content-type': type = '', 'content-length': length } = req.headers;
    const [expect, encoding] = [firstOf(req, 'expect'), encodingOf(req)];
    if (expect && expect !== '100-continue') return apiErrors.unknownExpectation;
    if (!/^application\/json[\t ]*(;|$)/i.test(type)) return apiErrors.unsupportedMediaType;
    if (encoding !== 'identity' && !decompressors.has(encoding)) return unknownEncoding;
    return Number(length) > this.#limitBytes ? this.#tooLarge : undefined;
  }

  async #receive({ req, readBody }: HttpRequest): Promise<Received> {
    let body: Uint8Array | undefined;
    try {
      const isPlain = plainLength(req) !== undefined && req.headers['content-encoding'] === undefined;
      body = isPlain && readBody ? await readBody() : await collect(req, this.#limitBytes);
    } catch (failure) {
      // The client disconnected, or the server has replied to malformed HTTP or to a timeout.
      if (req.errored) return { kind: 'rejected', reply: ABORTED };
      throw failure;
    }
    if (body === undefined) {
      // Node by itself discards only a body that was not read at all.
      req.resume();
      return { kind: 'rejected', reply: errorReply(this.#tooLarge) };
    }
    const decompress = decompressors.get(encodingOf(req));
    if (decompress === undefined) return { kind: 'received', body };
    try {
      return { kind: 'received', body: await decompress(body, { maxOutputLength: this.#limitBytes }) };
    } catch (error) {
      return { kind: 'rejected', reply: errorReply(error instanceof RangeError ? this.#tooLarge : damaged) };
    }
  }

  get #tooLarge(): ApiError {
    return { ...apiErrors.bodyTooLarge, message: `The body is larger than ${this.#limitBytes} bytes` };
  }
}

type Received =
  | { readonly kind: 'received'; readonly body: Uint8Array }
  | { readonly kind: 'rejected'; readonly reply: Reply };

/** Returns the size of a body after decompression, if it is known before. */
function plainLength(req: IncomingMessage): number | undefined {
  const { 'content-length': length } = req.headers;
  return length !== undefined && encodingOf(req) === 'identity' ? Number(length) : undefined;
}

function encodingOf(req: IncomingMessage): string {
  return firstOf(req, 'content-encoding') || 'identity';
}

/** Returns the value of a header in lower case. Of repeated headers, the first counts; Node joins these. */
function firstOf(req: IncomingMessage, name: string): string | undefined {
  return req.headers[name] && req.headersDistinct[name]?.[0]?.toLowerCase();
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
