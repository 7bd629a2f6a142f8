import type { IncomingMessage } from 'node:http';
import type {
  CreatePlantOutcome,
  CreatePlantUseCase,
  NewPlant,
  Principal,
  TokenVerifier,
} from '../../../core/index.js';
import {
  type ApiError,
  apiErrors,
  authenticate,
  JsonPlantCodec,
  type OpenApiDescription,
  openApiDescription,
  type PlantCodec,
  toApiError,
} from '../api/index.js';
import { collect, encodings, type Received, tooLarge } from './body.js';
import { ABORTED, errorReply, failureReply, type HttpRequest, type HttpRoute, JSON_TYPE, type Reply } from './reply.js';

const unknownEncoding = { ...apiErrors.unsupportedMediaType, message: 'Content-Encoding must be gzip, deflate or br' };

/** What creates plants: the use case of the core, or a decorator of it that declines some. */
export type HttpCreatePlant =
  | CreatePlantUseCase
  | { execute(newPlant: NewPlant): Promise<CreatePlantOutcome | Declined> };

/** A decision of the application, such as a missing permission. */
export interface Declined {
  readonly kind: 'declined';
  /** For example `{ error: 40301, message: 'Only gardeners create plants' }`. Its status is 403. */
  readonly error: ApiError;
}

/** Options of {@link Operations}. */
export interface OperationOptions {
  /** Or a function that returns it for the authenticated client. */
  readonly createPlant: HttpCreatePlant | ((principal: Principal) => HttpCreatePlant);
  readonly tokenVerifier: TokenVerifier;
  /** @default `docs/openapi.yaml` */
  readonly description?: OpenApiDescription;
  /** @default one with the schemas of `description` */
  readonly codec?: PlantCodec;
  /** Maximum number of requests in flight. @default 10000 */
  readonly maxInFlight?: number;
  /** Maximum total size of their bodies, after decompression. @default 67108864 */
  readonly maxInFlightBytes?: number;
  /** Maximum size of a body, before and after decompression. @default 1048576 */
  readonly bodyLimitBytes?: number;
}

type Parts = Required<OperationOptions>;
type Operation = (body: Uint8Array, request: AuthenticatedRequest, parts: Parts) => Promise<Reply>;

interface AuthenticatedRequest {
  readonly params: HttpRequest['params'];
  readonly principal: Principal;
}

/** What each operation does for an authenticated client, by `operationId`. */
const operations: Readonly<Record<string, Operation>> = {
  async createPlant(body, { principal }, { codec, createPlant }) {
    const decoded = codec.decodeNewPlant(body);
    if (decoded.kind === 'rejected') return errorReply(decoded.error);
    const useCase = typeof createPlant === 'function' ? createPlant(principal) : createPlant;
    const outcome = await useCase.execute(decoded.newPlant);
    if (outcome.kind === 'created') return { status: 200, headers: JSON_TYPE, body: codec.encodePlant(outcome.plant) };
    if (outcome.kind === 'declined') return errorReply(outcome.error);
    return errorReply(toApiError(outcome), { cause: outcome.kind === 'rejected' ? outcome.error : undefined });
  },
};

/** The operations of the description, for authenticated clients, within limits. */
export class Operations {
  readonly routes: readonly HttpRoute[];
  readonly #parts: Parts;
  /** Number of requests in flight. */
  inFlight = 0;
  /** Memory reserved for their bodies. */
  inFlightBytes = 0;

  constructor(options: OperationOptions) {
    const { description = openApiDescription } = options;
    this.#parts = {
      createPlant: options.createPlant,
      tokenVerifier: options.tokenVerifier,
      description,
      codec: options.codec ?? new JsonPlantCodec(description),
      maxInFlight: options.maxInFlight ?? 10_000,
      maxInFlightBytes: options.maxInFlightBytes ?? 64 * 1024 ** 2,
      bodyLimitBytes: options.bodyLimitBytes ?? 1024 ** 2,
    };
    this.routes = Object.entries(description.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId, requestBody }]) => {
        const operation = operations[operationId];
        if (operation === undefined) throw new TypeError(`no handler for the operation ${operationId}`);
        const hasBody = requestBody !== undefined;
        return { method: method.toUpperCase(), path, respond: (request) => this.#run(operation, hasBody, request) };
      }),
    );
  }

  /** Admits a request, authenticates the client, and runs the operation. */
  async #run(operation: Operation, hasBody: boolean, request: HttpRequest): Promise<Reply> {
    if (this.inFlight >= this.#parts.maxInFlight) return errorReply(apiErrors.overloaded);
    this.inFlight++;
    try {
      const client = await authenticate(request.req.headers.authorization, this.#parts.tokenVerifier);
      if (client.kind === 'rejected') return errorReply(client.error, { reason: client.reason });
      const { principal } = client;
      const authenticated = { params: request.params, principal };
      const use = (body: Uint8Array) => operation(body, authenticated, this.#parts);
      const replied = hasBody ? this.#withBody(request, use) : use(new Uint8Array());
      const { status, headers, body, log } = await replied.catch(failureReply);
      return { status, headers, body, log: { ...log, subject: principal.subject } };
    } finally {
      this.inFlight--;
    }
  }

  /** Checks the headers of a body, reserves memory for it, reads it, and calls `use` with it. */
  async #withBody(request: HttpRequest, use: (body: Uint8Array) => Promise<Reply>): Promise<Reply> {
    const { req, res, readBody } = request;
    const { bodyLimitBytes, maxInFlightBytes } = this.#parts;
    const encoding = firstOf(req, 'content-encoding') || 'identity';
    const expect = req.headers.expect && firstOf(req, 'expect');
    const error = checkHeaders(req, { encoding, expect }, bodyLimitBytes);
    if (error) return errorReply(error);
    const { 'content-length': length } = req.headers;
    const hasKnownSize = length !== undefined && encoding === 'identity';
    let reserved = hasKnownSize ? Number(length) : bodyLimitBytes;
    if (this.inFlightBytes + reserved > maxInFlightBytes) return errorReply(apiErrors.overloaded);
    this.inFlightBytes += reserved;
    try {
      // HTTP/1.0 has no 100 Continue (RFC 9110 §10.1.1).
      if (expect && req.httpVersion === '1.1') res.writeContinue();
      const isForFramework = hasKnownSize && req.headers['content-encoding'] === undefined;
      const received: Received =
        isForFramework && readBody
          ? { kind: 'received', body: await readBody() }
          : await collect(req, encoding, bodyLimitBytes);
      if (received.kind === 'rejected') return errorReply(received.error);
      this.inFlightBytes += received.body.length - reserved;
      reserved = received.body.length;
      return await use(received.body);
    } catch (failure) {
      // The client disconnected, or the server has replied to the rest of the body.
      if (req.errored) return ABORTED;
      throw failure;
    } finally {
      this.inFlightBytes -= reserved;
    }
  }
}

/** Returns the error for the headers of a request with a body, if there is one. */
function checkHeaders(
  req: IncomingMessage,
  { encoding, expect }: { encoding: string; expect: string | undefined },
  limitBytes: number,
): ApiError | undefined {
  const { 'content-type': type = '', 'content-length': length } = req.headers;
  if (expect && expect !== '100-continue') return apiErrors.unknownExpectation;
  if (!/^application\/json[\t ]*(;|$)/i.test(type)) return apiErrors.unsupportedMediaType;
  if (encoding !== 'identity' && !encodings.has(encoding)) return unknownEncoding;
  return Number(length) > limitBytes ? tooLarge(limitBytes) : undefined;
}

/** Returns a header in lower case. Of repeated headers, the first counts; Node joins these. */
function firstOf(req: IncomingMessage, name: string): string | undefined {
  return req.headers[name] === undefined ? undefined : req.headersDistinct[name]?.[0]?.toLowerCase();
}
