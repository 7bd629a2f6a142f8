import type { Container } from 'inversify';
import type { Logger } from 'pino';
import type { KnexStorage } from '../adapters/driven/knex/index.js';
import type { PlantStorage } from '../core/index.js';
import { services } from './services.js';

/** An open storage, with facts for the program that opened it. */
export type Storage = PlantStorage & Partial<Omit<KnexStorage, keyof PlantStorage>>;

/** A `DATABASE_URL`, and its scheme, which selects the storage. */
export interface StorageUrl {
  readonly scheme: string;
  readonly url: string;
}

/** Options of {@link OpenStorage}. */
export interface StorageOptions {
  /** The `DATABASE_URL`. */
  readonly url: string;
  /** `STORAGE_TIMEOUT`, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether the storage will only be read. If so, create and change nothing. */
  readonly readOnly: boolean;
  readonly log: Logger;
}

/** Opens the storage at a URL. Throws `StorageUnavailable` if a retry may help. */
export type OpenStorage = (options: StorageOptions) => Storage | Promise<Storage>;

/** Logs when opening the storage creates it, because a mistyped `DATABASE_URL` would otherwise go unnoticed. */
export function logNewStore(container: Container): void {
  container.onActivation(services.Storage, async (context, storage) => {
    const log = await context.getAsync(services.Logger);
    // A plugin may have bound anything.
    if (storage?.schema === 'created') log.info({ storage: storage.name }, 'created a new, empty store');
    return storage;
  });
}
