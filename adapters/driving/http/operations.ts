import type { IncomingMessage } from 'node:http';
import type { CreatePlantOutcome, NewPlant, Principal, TokenVerifier } from '@plant-store/core';
import {
  apiErrors,
  authenticate,
  type Declined,
  JsonPlantCodec,
  type OpenApiDescription,
  openApiDescription,
  type PlantCodec,
  toApiError,
} from '../api/index.js';
import { decompressors, type Received, receive, tooLarge } from './body.js';
import { errorReply, failureReply, type HttpRequest, type HttpRoute, JSON_TYPE, type Reply } from './reply.js';

const unknownEncoding = { ...apiErrors.unsupportedMediaType, message: 'Content-Encoding must be gzip, deflate or br' };

/** What creates plants: the use case of the core, or a decorator of it that declines some. */
export interface HttpCreatePlant {
  execute(newPlant: NewPlant): Promise<CreatePlantOutcome | Declined>;
}

/** Options of {@link Operations}. */
export interface OperationOptions {
  /** The use case, or a function that returns it for the authenticated client. */
  readonly createPlant: HttpCreatePlant | ((principal: Principal) => HttpCreatePlant);
  readonly tokenVerifier: TokenVerifier;
  /** @default `docs/openapi.yaml` */
  readonly description?: OpenApiDescription | undefined;
  /** @default one with the schemas of `description` */
  readonly codec?: PlantCodec | undefined;
  /** Maximum number of requests in flight. @default 10000 */
  readonly maxInFlight?: number | undefined;
  /** Maximum total size of their bodies, after decompression. @default 67108864 */
  readonly maxInFlightBytes?: number | undefined;
  /** Maximum size of a body, before and after decompression. @default 1048576 */
  readonly bodyLimitBytes?: number | undefined;
}

type OptionsWithDefaults = { readonly [Key in keyof OperationOptions]-?: NonNullable<OperationOptions[Key]> };

/** What an operation does for an authenticated client. */
type Operation = (request: AuthenticatedRequest, parts: OptionsWithDefaults) => Promise<Reply>;

interface AuthenticatedRequest {
  readonly principal: Principal;
  readonly params: HttpRequest['params'];
  /** Empty if the description declares none. */
  readonly body: Uint8Array;
}

/** The operations of the description, by `operationId`. */
const operations: Readonly<Record<string, Operation>> = {
  async createPlant({ principal, body }, { codec, createPlant }) {
    const decoded = codec.decodeNewPlant(body);
    if (decoded.kind === 'rejected') return errorReply(decoded.error);
    const useCase = typeof createPlant === 'function' ? createPlant(principal) : createPlant;
    const outcome = await useCase.execute(decoded.newPlant);
    if (outcome.kind === 'created') return { status: 200, headers: JSON_TYPE, body: codec.encodePlant(outcome.plant) };
    return errorReply(toApiError(outcome), { cause: outcome.kind === 'rejected' ? outcome.error : undefined });
  },
};

/** Runs the operations of the description, for authenticated clients, within limits. */
export class Operations {
  readonly routes: HttpRoute[] = [];
  /** Number of requests in flight. */
  inFlight = 0;
  /** Memory reserved for their bodies. */
  inFlightBytes = 0;
  readonly #parts: OptionsWithDefaults;

  constructor({
    createPlant,
    tokenVerifier,
    description = openApiDescription,
    codec = new JsonPlantCodec(description),
    maxInFlight = 10_000,
    maxInFlightBytes = 64 * 1024 ** 2,
    bodyLimitBytes = 1024 ** 2,
  }: OperationOptions) {
    this.#parts = { createPlant, tokenVerifier, description, codec, maxInFlight, maxInFlightBytes, bodyLimitBytes };
    for (const [path, methods] of Object.entries(description.paths)) {
      for (const [method, { operationId, requestBody }] of Object.entries(methods)) {
        const operation = operations[operationId];
        if (operation === undefined) throw new TypeError(`no handler for the operation ${operationId}`);
        const hasBody = requestBody !== undefined;
        const respond = (request: HttpRequest) => this.#run(operation, hasBody, request);
        this.routes.push({ method: method.toUpperCase(), path, respond });
      }
    }
  }

  /** Admits a request, authenticates the client, and runs the operation. */
  async #run(operation: Operation, hasBody: boolean, request: HttpRequest): Promise<Reply> {
    if (this.inFlight >= this.#parts.maxInFlight) return errorReply(apiErrors.overloaded);
    this.inFlight++;
    try {
      const client = await authenticate(request.req.headers.authorization, this.#parts.tokenVerifier);
      if (client.kind === 'rejected') return errorReply(client.error, { reason: client.reason });
      const { principal } = client;
      const replied = hasBody
        ? this.#runWithBody(operation, request, principal)
        : operation({ principal, params: request.params, body: new Uint8Array() }, this.#parts);
      // If the client has disconnected, the failure is that its body did not arrive.
      const reply = await replied.catch((failure) => failureReply(request.req.errored ? undefined : failure));
      return { ...reply, log: { ...reply.log, principal } };
    } finally {
      this.inFlight--;
    }
  }

  /** Checks the headers of a body, reserves memory for it, reads it, and runs the operation. */
  async #runWithBody(operation: Operation, request: HttpRequest, principal: Principal): Promise<Reply> {
    const { req, res, params, readBody } = request;
    const { bodyLimitBytes, maxInFlightBytes } = this.#parts;
    const { 'content-type': type = '', 'content-length': length, 'content-encoding': encodings } = req.headers;
    const encoding = (encodings && firstOf(req, 'content-encoding')) || 'identity';
    const expect = req.headers.expect && firstOf(req, 'expect');
    if (expect && expect !== '100-continue') return errorReply(apiErrors.unknownExpectation);
    if (!/^application\/json[\t ]*(;|$)/i.test(type)) return errorReply(apiErrors.unsupportedMediaType);
    if (encoding !== 'identity' && !decompressors.has(encoding)) return errorReply(unknownEncoding);
    if (Number(length) > bodyLimitBytes) return errorReply(tooLarge(bodyLimitBytes));

    const hasKnownSize = length !== undefined && encoding === 'identity';
    let reserved = hasKnownSize ? Number(length) : bodyLimitBytes;
    if (this.inFlightBytes + reserved > maxInFlightBytes) return errorReply(apiErrors.overloaded);
    this.inFlightBytes += reserved;
    try {
      // HTTP/1.0 has no 100 Continue (RFC 9110 §10.1.1).
      if (expect && req.httpVersion === '1.1') res.writeContinue();
      // A framework may not know the encoding `identity`.
      const received: Received =
        hasKnownSize && encodings === undefined && readBody
          ? { kind: 'received', body: await readBody() }
          : await receive(req, encoding, bodyLimitBytes);
      if (received.kind === 'rejected') return errorReply(received.error);
      const { body } = received;
      this.inFlightBytes += body.length - reserved;
      reserved = body.length;
      return await operation({ principal, params, body }, this.#parts);
    } finally {
      this.inFlightBytes -= reserved;
    }
  }
}

/** Returns a header in lower case. Of repeated headers, the first counts; Node joins these. */
function firstOf(req: IncomingMessage, name: string): string | undefined {
  return req.headersDistinct[name]?.[0]?.toLowerCase();
}
