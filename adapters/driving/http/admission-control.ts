import { apiErrors } from '../api/index.js';
import { ApiException } from './api-exception.js';

/** Created once, because capturing a stack is slow and it is thrown under overload. */
const OVERLOADED = new ApiException(apiErrors.overloaded);

/** Limits on the requests in flight. */
export interface AdmissionLimits {
  /** Maximum number of requests in flight. @default 10000 */
  readonly maxInFlight: number;
  /** Maximum total bytes of their bodies, after decompression. @default 67108864 */
  readonly maxInFlightBytes: number;
}

/** The share of a request in the limits. */
export interface Permit {
  bytes: number;
}

/** Limits the number of requests in flight and the memory of their bodies. */
export class AdmissionControl {
  readonly #limits: AdmissionLimits;
  /** Number of requests in flight. */
  inFlight = 0;
  /** Memory reserved for the bodies of requests in flight. */
  inFlightBytes = 0;

  constructor({ maxInFlight = 10_000, maxInFlightBytes = 64 * 1024 ** 2 }: Partial<AdmissionLimits> = {}) {
    this.#limits = { maxInFlight, maxInFlightBytes };
  }

  /** Counts a request until {@link release}. Throws 50302 if there are too many. */
  admit(): Permit {
    if (this.inFlight >= this.#limits.maxInFlight) throw OVERLOADED;
    this.inFlight++;
    return { bytes: 0 };
  }

  /** Sets the memory for the body of a request. Throws 50302 if others have reserved too much. */
  reserve(permit: Permit, bytes: number): void {
    const inFlightBytes = this.inFlightBytes - permit.bytes + bytes;
    if (inFlightBytes > this.#limits.maxInFlightBytes) throw OVERLOADED;
    this.inFlightBytes = inFlightBytes;
    permit.bytes = bytes;
  }

  release({ bytes }: Permit): void {
    this.inFlight--;
    this.inFlightBytes -= bytes;
  }
}
