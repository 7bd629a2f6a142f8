import { setTimeout } from 'node:timers/promises';
import { rejections } from '../wire/index.js';
import { Refusal } from './refusal.js';

/** What the service may hold at once. */
export interface AdmissionLimits {
  /** The most creates under way. */
  readonly maxPending: number;
  /** The most bytes that the bodies of these may occupy, inflated, counted from the first byte on. */
  readonly maxPendingBytes: number;
}

/** Made once: there are many of them when time is short. */
const OVERLOADED = new Refusal(rejections.overloaded);
const OVERLOADED_CLOSING = new Refusal(rejections.overloaded, { Connection: 'close' });
const STOPPING = new Refusal(rejections.stopping);

/** How long at least lies between two refusals of one connection, in milliseconds. */
const BETWEEN_REFUSALS_MS = 500;

/** Counts the creates under way and the bytes of their bodies, and lets no more in than the limits allow. */
export class Admission {
  readonly limits: AdmissionLimits;
  #pending = 0;
  #pendingBytes = 0;
  #stopping = false;
  /** When a connection was refused last, by `performance.now()`. */
  readonly #refusedAt = new WeakMap<object, number>();
  /** Connections with a create that is held back. */
  readonly #heldBack = new WeakSet<object>();

  constructor(limits: AdmissionLimits) {
    this.limits = limits;
  }

  /**
   * Takes a place for one create. Where there is none, whoever comes is refused at once; but who comes again on the same
   * connection without heeding Retry-After is held back for a moment: refusing costs as much time as accepting.
   *
   * @throws {Refusal} 50302 when there is none, 50303 after {@link stop}
   */
  async enter(connection: object): Promise<Place> {
    if (this.#isFull && !this.#stopping) await this.#holdBack(connection);
    if (this.#stopping) throw STOPPING;
    if (this.#isFull) {
      this.#refusedAt.set(connection, performance.now());
      throw OVERLOADED;
    }
    this.#pending++;
    let held = 0;
    let left = false;
    return {
      hold: (bytes) => {
        if (this.#pendingBytes + bytes > this.limits.maxPendingBytes) return false;
        held += bytes;
        this.#pendingBytes += bytes;
        return true;
      },
      leave: () => {
        if (left) return;
        left = true;
        this.#pending--;
        this.#pendingBytes -= held;
      },
    };
  }

  get #isFull(): boolean {
    return this.#pending >= this.limits.maxPending;
  }

  /** Waits where `connection` was refused a moment ago. */
  async #holdBack(connection: object): Promise<void> {
    const refusedAt = this.#refusedAt.get(connection);
    if (refusedAt === undefined) return;
    const restMs = refusedAt + BETWEEN_REFUSALS_MS - performance.now();
    if (restMs <= 0) return;
    // What is pipelined behind one that is held back is not held back as well, one by one.
    if (this.#heldBack.has(connection)) throw OVERLOADED_CLOSING;
    this.#heldBack.add(connection);
    await setTimeout(restMs);
    this.#heldBack.delete(connection);
  }

  /** How many creates are under way. */
  get pending(): number {
    return this.#pending;
  }

  /** How many bytes their bodies occupy. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Lets nobody in any more; who is in stays until it leaves. */
  stop(): void {
    this.#stopping = true;
  }
}

/** One create under way. */
export interface Place {
  /** Counts more bytes of its body; `false` when they would be too many. */
  hold(bytes: number): boolean;
  /** Gives the place and its bytes back; the second time it does nothing. */
  leave(): void;
}
