import { apiErrors } from '../api/index.js';
import { HttpError } from './http-error.js';

/** Created once: capturing a stack is slow, and it is thrown under overload. */
const OVERLOADED = new HttpError(apiErrors.overloaded);

/** Limits on the requests in flight. */
export interface AdmissionLimits {
  /** Maximum number of requests in flight. @default 10000 */
  readonly maxInFlight: number;
  /** Maximum total bytes of their bodies, after decompression. @default 67108864 */
  readonly maxInFlightBytes: number;
}

/** Permission for one request. */
export interface Permit {
  /** Sets the memory reserved for the body. Throws 50302, and changes nothing, if that exceeds the limit. */
  reserve(bytes: number): void;
  /** Releases the permit and its reserved memory. Call it once. */
  release(): void;
}

/** Limits the number of requests in flight and the memory of their bodies. */
export class AdmissionControl {
  readonly limits: AdmissionLimits;
  #inFlight = 0;
  #inFlightBytes = 0;

  constructor({ maxInFlight = 10_000, maxInFlightBytes = 64 * 1024 ** 2 }: Partial<AdmissionLimits> = {}) {
    this.limits = { maxInFlight, maxInFlightBytes };
  }

  /**
   * Acquires a permit.
   * @throws {HttpError} No permit is free (50302).
   */
  acquire(): Permit {
    if (this.#inFlight >= this.limits.maxInFlight) throw OVERLOADED;
    this.#inFlight++;
    let reservedBytes = 0;
    return {
      reserve: (bytes) => {
        const inFlightBytes = this.#inFlightBytes - reservedBytes + bytes;
        if (inFlightBytes > this.limits.maxInFlightBytes) throw OVERLOADED;
        this.#inFlightBytes = inFlightBytes;
        reservedBytes = bytes;
      },
      release: () => {
        this.#inFlight--;
        this.#inFlightBytes -= reservedBytes;
      },
    };
  }

  /** Number of requests in flight. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Memory reserved for the bodies of requests in flight. */
  get inFlightBytes(): number {
    return this.#inFlightBytes;
  }
}
