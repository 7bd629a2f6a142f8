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

/** Limits the number of requests in flight and the memory of their bodies. */
export class AdmissionControl {
  readonly limits: AdmissionLimits;
  #inFlight = 0;
  #inFlightBytes = 0;

  constructor({ maxInFlight = 10_000, maxInFlightBytes = 64 * 1024 ** 2 }: Partial<AdmissionLimits> = {}) {
    this.limits = { maxInFlight, maxInFlightBytes };
  }

  /** Number of requests in flight. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Memory reserved for the bodies of requests in flight. */
  get inFlightBytes(): number {
    return this.#inFlightBytes;
  }

  /**
   * Handles a request. `reserve` sets the memory for its body, until its end.
   * @throws {ApiException} Too many requests are in flight, or too many bytes are reserved (50302).
   */
  async admit<T>(handle: (reserve: (bytes: number) => void) => Promise<T>): Promise<T> {
    if (this.#inFlight >= this.limits.maxInFlight) throw OVERLOADED;
    this.#inFlight++;
    let reservedBytes = 0;
    try {
      return await handle((bytes) => {
        const inFlightBytes = this.#inFlightBytes - reservedBytes + bytes;
        if (inFlightBytes > this.limits.maxInFlightBytes) throw OVERLOADED;
        this.#inFlightBytes = inFlightBytes;
        reservedBytes = bytes;
      });
    } finally {
      this.#inFlight--;
      this.#inFlightBytes -= reservedBytes;
    }
  }
}
