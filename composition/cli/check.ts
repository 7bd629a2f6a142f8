import type { Container } from 'inversify';
import { pendingMigrations } from '../../adapters/driven/knex/index.js';
import type { Config } from '../config.js';
import { createContainer, isReplaced, services } from '../container.js';
import { loadPlugins } from '../plugins.js';
import { describeDatabase, toDatabase } from '../storage.js';
import { isCredentialConfigured } from '../tokens.js';
import { print } from './output.js';

/** Prints the effective settings and the state of the storage, without changing it. Resolves to the exit code. */
export async function run(config: Config): Promise<number> {
  await print(config.effective.map((line) => `${line}\n`).join(''));
  const container = createContainer({ ...config, managementPort: 'off', readOnly: true });
  await (await loadPlugins(container, config))();
  if (!isReplaced(container, services.TokenVerifier, services.StaticTokens)) isCredentialConfigured(config);
  await container.getAsync(services.TokenVerifier);
  await print(`storage: ${await describeStorage(container, config)}\n`);
  return 0;
}

/** Returns the name of the storage and the state of its schema. Throws StorageUnavailable if `serve` could not use it. */
async function describeStorage(container: Container, config: Config): Promise<string> {
  const isDatabase = !isReplaced(container, services.Storage, services.PlantRepository);
  const options = { url: config.database.url, timeoutMs: config.storageTimeoutMs, readOnly: true };
  const database = isDatabase ? toDatabase(options) : undefined;
  const pending = database ? await pendingMigrations(database) : [];
  if (database && pending.length > 0)
    return `${describeDatabase(database, pending)}; serve applies ${pending.join(', ')}`;
  const storage = await container.getAsync(services.Storage);
  await storage.ready();
  await storage.close();
  return database
    ? `${database.name}, driver ${database.engine.driver}; schema ${Object.keys(database.engine.migrations).at(-1)}, current`
    : (storage.name ?? 'no schema');
}
