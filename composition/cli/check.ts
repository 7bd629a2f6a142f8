import type { Container } from 'inversify';
import { pendingMigrations } from '../../adapters/driven/knex/index.js';
import type { Config } from '../config.js';
import { createContainer, describeSelected, isReplaced, services } from '../container.js';
import { loadPlugins } from '../plugins.js';
import { describeDatabase } from '../storage.js';
import { isCredentialConfigured } from '../tokens.js';
import { print } from './output.js';

/** Prints the effective settings and the state of the storage, without changing it. Resolves to the exit code. */
export async function run(config: Config): Promise<number> {
  await print(config.effective.map((line) => `${line}\n`).join(''));
  const container = createContainer({ ...config, managementPort: 'off', readOnly: true });
  await (await loadPlugins(container, config))();
  if (!isReplaced(container, services.TokenVerifier, services.StaticTokens)) isCredentialConfigured(config);
  await container.getAsync(services.TokenVerifier);
  await print(`storage: ${await describeStorage(container, { ...config, readOnly: true })}\n`);
  return 0;
}

/** Returns the name of the storage and the state of its schema. Throws StorageUnavailable if `serve` could not use it. */
async function describeStorage(container: Container, config: Config): Promise<string> {
  const database = await describeSelected(container, config);
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
