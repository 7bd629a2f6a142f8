import type { CreatePlantUseCase, TokenVerifier } from '../../../core/index.js';
import {
  apiErrors,
  JsonPlantCodec,
  type OpenApiDescription,
  openApiDescription,
  type PlantCodec,
  toApiError,
} from '../api/index.js';
import { type BodyLimits, BodyReader } from './body.js';
import { errorReply, failureReply, type HttpRequest, type HttpRoute, jsonReply, type Reply } from './reply.js';

/** Options of {@link Operations}. */
export interface OperationOptions extends BodyLimits {
  readonly createPlant: CreatePlantUseCase;
  readonly tokenVerifier: TokenVerifier;
  /** @default `docs/openapi.yaml` */
  readonly description?: OpenApiDescription;
  /** @default one with the schemas of `description` */
  readonly codec?: PlantCodec;
  /** Maximum number of requests in flight. @default 10000 */
  readonly maxInFlight?: number;
}

type Parts = OperationOptions & { readonly codec: PlantCodec };
type Operation = (body: Uint8Array, params: HttpRequest['params'], parts: Parts) => Promise<Reply>;

/** What each operation does for an authenticated client, by `operationId`. */
const operations: Readonly<Record<string, Operation>> = {
  async createPlant(body, _params, { codec, createPlant }) {
    const decoded = codec.decodeNewPlant(body);
    if (decoded.kind === 'rejected') return errorReply(decoded.error);
    const outcome = await createPlant.execute(decoded.newPlant);
    if (outcome.kind === 'created') return jsonReply(codec.encodePlant(outcome.plant));
    return errorReply(toApiError(outcome), outcome.kind === 'rejected' ? outcome.error : undefined);
  },
};

/** The operations of the description, for authenticated clients, within the limits. */
export class Operations {
  readonly routes: readonly HttpRoute[];
  readonly bodies: BodyReader;
  readonly #parts: Parts;
  /** Number of requests in flight. */
  inFlight = 0;

  constructor(options: OperationOptions) {
    const { description = openApiDescription, codec = new JsonPlantCodec(description) } = options;
    this.bodies = new BodyReader(options);
    this.#parts = { ...options, codec };
    this.routes = Object.entries(description.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId, requestBody }]) => {
        const operation = operations[operationId];
        if (operation === undefined) throw new TypeError(`no handler for the operation ${operationId}`);
        const hasBody = requestBody !== undefined;
        return { method: method.toUpperCase(), path, respond: (request) => this.#run(operation, hasBody, request) };
      }),
    );
  }

  /** Admits a request, and authenticates the client. */
  async #run(operation: Operation, hasBody: boolean, request: HttpRequest): Promise<Reply> {
    const { tokenVerifier, maxInFlight = 10_000 } = this.#parts;
    if (this.inFlight >= maxInFlight) return errorReply(apiErrors.overloaded);
    this.inFlight++;
    try {
      // RFC 9110 §11.4: a case-insensitive scheme, then the credential.
      const [, token] = /^Bearer +([\x21-\x7e]+)$/i.exec(request.req.headers.authorization ?? '') ?? [];
      if (token === undefined) return errorReply(apiErrors.noCredential);
      const verification = await tokenVerifier.verify(token);
      // A verifier in JavaScript may return another value.
      if (verification?.kind !== 'valid')
        return { ...errorReply(apiErrors.invalidToken), reason: verification?.reason };
      const reply = await this.#runForClient(operation, hasBody, request);
      return { ...reply, subject: verification.principal.subject };
    } finally {
      this.inFlight--;
    }
  }

  async #runForClient(operation: Operation, hasBody: boolean, request: HttpRequest): Promise<Reply> {
    const run = (body: Uint8Array) => operation(body, request.params, this.#parts);
    try {
      return await (hasBody ? this.bodies.withBody(request, run) : run(new Uint8Array()));
    } catch (failure) {
      return failureReply(failure);
    }
  }
}
