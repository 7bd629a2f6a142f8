import { Container } from 'inversify';
import { flush } from './logger.js';
import { services } from './services.js';
import { limitTime } from './time-limit.js';

/** Minimum time for a part to close, even if others have used up the limit. */
const MIN_CLOSE_MS = 1000;

type Part = 'storage' | 'group commit' | 'management' | 'server';

/** The parts of the service. Creates each once, at the first `getAsync`, including those that plugins bind. */
export class ServiceContainer extends Container {
  /** Whether the listener serves the page at `/docs`. */
  hasDocs = false;
  readonly #closers: { readonly part: Part; readonly close: () => Promise<unknown> }[] = [];
  readonly #timeoutMs: number;
  #deadline: number | undefined;

  /** @param timeoutMs Maximum time to close. After it, each open part has another second. */
  constructor(timeoutMs: number) {
    super({ defaultScope: 'Singleton' });
    this.#timeoutMs = timeoutMs;
  }

  /** Registers how to close a part. */
  onClose(part: Part, close: () => Promise<unknown>): void {
    this.#closers.unshift({ part, close });
  }

  /** Closes the parts in the opposite order of their opening, and goes on when one fails. Resolves to the failures. */
  async closeParts(): Promise<ReadonlyMap<Part, unknown>> {
    const failures = new Map<Part, unknown>();
    for (const { part, close } of this.#closers.splice(0)) {
      try {
        await this.#limit(close());
      } catch (error) {
        failures.set(part, error);
      }
    }
    return failures;
  }

  /** Closes the parts, writes the log, and closes what plugins have opened. Rejects if a part or a plugin fails. */
  async close(): Promise<void> {
    const [failure] = (await this.closeParts()).values();
    await this.getAsync(services.LogDestination).then(flush, () => {});
    await this.#limit(this.unbindAllAsync());
    if (failure !== undefined) throw failure;
  }

  async #limit(closing: Promise<unknown>): Promise<void> {
    this.#deadline ??= performance.now() + this.#timeoutMs + MIN_CLOSE_MS;
    const timeLeftMs = Math.max(this.#deadline - performance.now(), MIN_CLOSE_MS);
    await limitTime(closing, timeLeftMs, 'it did not close in time');
  }
}
