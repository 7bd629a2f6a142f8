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
const STOPPING = new Refusal(rejections.stopping);

/** Counts the creates under way and the bytes of their bodies, and lets no more in than the limits allow. */
export class Admission {
  readonly limits: AdmissionLimits;
  #pending = 0;
  #pendingBytes = 0;
  #stopping = false;

  constructor(limits: AdmissionLimits) {
    this.limits = limits;
  }

  /**
   * Takes a place for one create.
   *
   * @throws {Refusal} 50302 when there is none, 50303 after {@link stop}
   */
  enter(): Place {
    if (this.#stopping) throw STOPPING;
    if (this.#pending >= this.limits.maxPending) throw OVERLOADED;
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
