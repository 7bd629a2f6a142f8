import type { Logger } from 'pino';

/** Something that a SIGHUP reloads, such as a token verifier. */
export interface Reloadable {
  /** Throws if the new content is invalid; the previous one stays in use. */
  reload(): Promise<void>;
}

/** Reloads tokens, and everything else that can be reloaded. */
export class TokenReload {
  readonly #reloadables: readonly Reloadable[];
  readonly #log: Pick<Logger, 'info' | 'error'>;
  /** Whether the last reload succeeded. */
  isSuccessful = true;

  constructor(reloadables: readonly Reloadable[], log: Pick<Logger, 'info' | 'error'>) {
    this.#reloadables = reloadables;
    this.#log = log;
  }

  /** Reloads each, and logs those that fail. */
  async reload(): Promise<void> {
    this.isSuccessful = true;
    for (const reloadable of this.#reloadables) {
      try {
        await reloadable.reload();
      } catch (error) {
        this.isSuccessful = false;
        this.#log.error({ reason: error instanceof Error ? error.message : `${error}` }, 'keeping the previous tokens');
      }
    }
    if (this.isSuccessful) this.#log.info('tokens reloaded');
  }
}
