import type { CreatePlantUseCase, TokenVerifier } from '../../../core/index.js';
import {
  apiErrors,
  type OpenApiDescription,
  openApiDescription,
  operationsOf,
  PlantCodec,
  toApiError,
} from '../api/index.js';
import { AdmissionControl, type AdmissionLimits } from './admission-control.js';
import { ApiException } from './api-exception.js';
import { type CollectBody, readBody } from './body.js';
import type { Exchange } from './exchange.js';

/** Options of {@link createOperations}. */
export interface OperationOptions extends Partial<AdmissionLimits> {
  readonly createPlant: CreatePlantUseCase;
  readonly tokenVerifier: TokenVerifier;
  /** @default `docs/openapi.yaml` */
  readonly description?: OpenApiDescription;
  /** @default a codec with the schemas of `description` */
  readonly codec?: PlantCodec;
  /** @default one with `maxInFlight` and `maxInFlightBytes` */
  readonly admission?: AdmissionControl;
  /** Maximum size of a body, before and after decompression. @default 1048576 */
  readonly bodyLimitBytes?: number;
}

/** What a framework may know about a request. */
export interface OperationRequest {
  /** Values of the templates in the path. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** @default reads the request */
  readonly collect?: CollectBody | undefined;
}

/** An operation of the description. */
export interface HttpOperation {
  readonly method: string;
  /** Such as `/plants/{plantId}`. */
  readonly path: string;
  /**
   * Authenticates, reads the body and calls the use case, within the limits. Returns the JSON text of the 200.
   * @throws {ApiException} The request is rejected.
   * @throws {StorageUnavailable} The outcome is not known.
   */
  run(exchange: Exchange, request?: OperationRequest): Promise<string>;
}

interface Input {
  readonly body: Uint8Array;
  readonly parameters: Readonly<Record<string, string>>;
  readonly codec: PlantCodec;
}

/** What each operation does, by `operationId`. Returns the JSON text of the 200. */
const handlers: Readonly<Record<string, (input: Input, options: OperationOptions) => Promise<string>>> = {
  async createPlant({ body, codec }, { createPlant }) {
    const decoded = codec.decode(body);
    if (decoded.kind === 'rejected') throw new ApiException(decoded.error);
    const outcome = await createPlant.execute(decoded.newPlant);
    if (outcome.kind === 'created') return codec.encode(outcome.plant);
    throw new ApiException(toApiError(outcome), outcome.kind === 'rejected' ? { cause: outcome.error } : {});
  },
};

/** Creates the operations of the description, for any HTTP framework. */
export function createOperations(options: OperationOptions): readonly HttpOperation[] {
  const { tokenVerifier, description = openApiDescription, bodyLimitBytes = 1024 ** 2 } = options;
  const { codec = new PlantCodec(description), admission = new AdmissionControl(options) } = options;

  return operationsOf(description).map(({ operationId, method, path, hasBody }) => {
    const handle = handlers[operationId];
    if (handle === undefined) throw new TypeError(`no handler for the operation ${operationId}`);
    const run = async (exchange: Exchange, { parameters = {}, collect }: OperationRequest = {}) => {
      exchange.route = path;
      const permit = admission.admit();
      try {
        await authenticate(exchange, tokenVerifier);
        const reserve = (bytes: number) => admission.reserve(permit, bytes);
        const body = hasBody ? await readBody(exchange.res, bodyLimitBytes, reserve, collect) : new Uint8Array();
        return await handle({ body, parameters, codec }, options);
      } finally {
        admission.release(permit);
      }
    };
    return { method, path, run };
  });
}

/** Sets the principal. Throws 40101 without a bearer token, and 40102 if it is not valid. */
async function authenticate(exchange: Exchange, tokenVerifier: TokenVerifier): Promise<void> {
  // RFC 9110 §11.4: a case-insensitive scheme, then the credential.
  const [, token] = /^Bearer +([\x21-\x7e]+)$/i.exec(exchange.req.headers.authorization ?? '') ?? [];
  if (token === undefined) throw new ApiException(apiErrors.noCredential);
  const verification = await tokenVerifier.verify(token);
  // A verifier in JavaScript may return another value.
  if (verification?.kind !== 'valid') {
    exchange.reason = verification?.reason;
    throw new ApiException(apiErrors.invalidToken);
  }
  exchange.principal = verification.principal;
}
