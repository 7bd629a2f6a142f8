import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type CreatePlantUseCase,
  type Principal,
  StorageUnavailable,
  type TokenVerifier,
} from '../../../core/index.js';
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
import { countHeaders } from './exchange.js';

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
  /** Maximum size of a body, after decompression. @default 1048576 */
  readonly bodyLimitBytes?: number;
  /** Maximum time for an operation to wait for the storage. @default 10000 */
  readonly storageTimeoutMs?: number;
}

/** One request of an operation. */
export interface OperationRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Values of the templates in the path. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** @default reads `req` */
  readonly collect?: CollectBody | undefined;
  /** Receives the authenticated caller, for the log. */
  readonly report?: { principal?: Principal };
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
  run(request: OperationRequest): Promise<string>;
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
  const { tokenVerifier, description = openApiDescription } = options;
  const { codec = new PlantCodec(description), admission = new AdmissionControl(options) } = options;
  const { bodyLimitBytes = 1024 ** 2, storageTimeoutMs = 10_000 } = options;

  return operationsOf(description).map(({ operationId, method, path, hasBody }) => {
    const handle = handlers[operationId];
    if (handle === undefined) throw new TypeError(`no handler for the operation ${operationId}`);
    const run = async ({ req, res, parameters = {}, collect, report = {} }: OperationRequest) => {
      report.principal = await authenticate(req, tokenVerifier);
      return admission.admit(async (reserve) => {
        const body = hasBody ? await readBody(res, bodyLimitBytes, reserve, collect) : new Uint8Array();
        return withTimeout(storageTimeoutMs, handle({ body, parameters, codec }, options));
      });
    };
    return { method, path, run };
  });
}

/** Throws 40101 without a bearer token, and 40102 if it is not valid. */
async function authenticate(req: IncomingMessage, tokenVerifier: TokenVerifier): Promise<Principal> {
  // RFC 9110 §11.4: a case-insensitive scheme, then the credential.
  const [, token] = /^Bearer +([\x21-\x7e]+)$/i.exec(req.headers.authorization ?? '') ?? [];
  // With two headers it is unclear which one counts.
  if (token === undefined || countHeaders(req, 'authorization') > 1) throw new ApiException(apiErrors.noCredential);
  const principal = await tokenVerifier.verify(token);
  // Treats any other result as an invalid token, because a verifier written in JavaScript is not type-checked.
  if (!principal?.subject) throw new ApiException(apiErrors.invalidToken);
  return principal;
}

function withTimeout<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new StorageUnavailable(`no response within ${timeoutMs} ms`));
    const timer = setTimeout(fail, timeoutMs);
    const settle =
      <V>(end: (result: V) => void) =>
      (result: V) => {
        clearTimeout(timer);
        end(result);
      };
    work.then(settle(resolve), settle(reject));
  });
}
