import { StorageUnavailable, TokenIssuerUnavailable } from '../../core/index.js';
import { type Rejection, rejections } from '../wire/index.js';

/** How long a client should wait before it tries again, in seconds (RFC 9110 §10.2.3). */
const RETRY_AFTER_SECONDS = new Map<number, number>([
  [rejections.storageUnavailable.error, 5],
  [rejections.overloaded.error, 1],
  [rejections.stopping.error, 5],
  [rejections.issuerUnavailable.error, 5],
]);

/** Thrown by the parts of this adapter to end a request with an Error object. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly rejection: Rejection;
  readonly headers: Readonly<Record<string, string>>;

  constructor(rejection: Rejection, headers: Readonly<Record<string, string>> = {}, options?: { cause?: unknown }) {
    super(rejection.message, options);
    this.rejection = rejection;
    const retryAfter = RETRY_AFTER_SECONDS.get(rejection.error);
    this.headers = retryAfter === undefined ? headers : { ...headers, 'Retry-After': `${retryAfter}` };
  }
}

/** The refusal that tells a client of any error, without a word of its own text. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const options = { cause: error };
  if (error instanceof StorageUnavailable) return new Refusal(rejections.storageUnavailable, {}, options);
  if (error instanceof TokenIssuerUnavailable) return new Refusal(rejections.issuerUnavailable, {}, options);
  return new Refusal(rejections.defect, {}, options);
}

/** Answers, behind the methods that a path has, whatever else comes to it. */
export function refuseMethod(allowed: string): () => never {
  return () => {
    throw new Refusal(rejections.methodNotAllowed, { Allow: allowed });
  };
}
