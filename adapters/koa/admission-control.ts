import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { apiErrors } from '../api/index.js';
import { HttpError } from './http-error.js';

/** Minimum time between two rejections of one connection by `acquire` (docs/decisions/0014-clients-in-a-hurry.md). */
const MIN_REJECTION_INTERVAL_MS = 500;

/** Created once: capturing a stack is slow, and these are thrown under overload. */
const OVERLOADED = new HttpError(apiErrors.overloaded);
const SHUTTING_DOWN = new HttpError(apiErrors.shuttingDown);

/** Limits on the creates in flight. */
export interface AdmissionLimits {
  /** Maximum number of creates in flight. */
  readonly maxPending: number;
  /** Maximum total bytes of the bodies of creates in flight, after decompression. */
  readonly maxPendingBytes: number;
}

/** Permission for one create. */
export interface Permit {
  /** Sets the memory reserved for the body. Throws 50302, and changes nothing, if that exceeds the limit. */
  reserve(bytes: number): void;
  /** Releases the permit and its reserved memory. Call it once. */
  release(): void;
}

/** Limits the number of creates in flight and the memory of their bodies. */
export class AdmissionControl {
  readonly limits: AdmissionLimits;
  #pending = 0;
  #pendingBytes = 0;
  /** After {@link stop}, the requests that may still acquire a permit. */
  #lastRequests: ReadonlySet<IncomingMessage> | undefined;
  /** Time of each connection's last rejection (`performance.now()`). */
  readonly #rejectedAt = new WeakMap<object, number>();

  constructor(limits: AdmissionLimits) {
    this.limits = limits;
  }

  /**
   * Acquires a permit. If none is free and the connection was rejected recently, waits briefly and checks again.
   * @throws {HttpError} No permit is free (50302), or {@link stop} was called (50303).
   */
  async acquire(request: IncomingMessage): Promise<Permit> {
    const { socket } = request;
    const isFull = () => this.#pending >= this.limits.maxPending;
    if (isFull() && !this.#lastRequests) {
      const rejectedAt = this.#rejectedAt.get(socket) ?? Number.NEGATIVE_INFINITY;
      const remainingMs = rejectedAt + MIN_REJECTION_INTERVAL_MS - performance.now();
      if (remainingMs > 0) await setTimeout(remainingMs);
    }
    if (this.#lastRequests?.has(request) === false) throw SHUTTING_DOWN;
    if (isFull()) {
      this.#rejectedAt.set(socket, performance.now());
      throw OVERLOADED;
    }
    this.#pending++;
    let reservedBytes = 0;
    return {
      reserve: (bytes) => {
        const pendingBytes = this.#pendingBytes - reservedBytes + bytes;
        if (pendingBytes > this.limits.maxPendingBytes) throw OVERLOADED;
        this.#pendingBytes = pendingBytes;
        reservedBytes = bytes;
      },
      release: () => {
        this.#pending--;
        this.#pendingBytes -= reservedBytes;
      },
    };
  }

  /** Number of creates in flight. */
  get pending(): number {
    return this.#pending;
  }

  /** Memory reserved for the bodies of creates in flight. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Rejects all further creates except these requests, which arrived before the shutdown. */
  stop(lastRequests: Iterable<IncomingMessage> = []): void {
    this.#lastRequests = new Set(lastRequests);
  }
}
