import type { Container } from 'inversify';
import { readPendingMigrations } from '../../adapters/driven/knex/index.js';
import { StorageUnavailable } from '../../core/index.js';
import type { Config } from '../config.js';
import { createContainer, describeSelected, isReplaced, services } from '../container.js';
import { loadPlugins } from '../plugins.js';
import { describeDatabase } from '../storage.js';
import { isCredentialConfigured } from '../tokens.js';
import { print, reportFailure } from './output.js';

/** Prints the effective settings, the state of the storage, which it does not change, and every problem. */
export async function run(config: Config): Promise<number> {
  await print(config.effective.map((line) => `${line}\n`).join(''));
  const container = createContainer({ ...config, managementPort: 'off', readOnly: true });
  const attempt = (work: () => Promise<unknown>) => work().then(() => 0, reportFailure);
  const pluginsCode = await attempt(async () => (await loadPlugins(container, config))());
  // Logs warnings about settings.
  await container.getAsync(services.Logger);
  const credentialsCode = await attempt(async () => {
    if (!isReplaced(container, services.TokenVerifier, services.StaticTokens)) isCredentialConfigured(config);
    if (pluginsCode === 0) await container.getAsync(services.TokenVerifier);
  });
  // A plugin that failed may have been meant to bind the storage.
  if (pluginsCode !== 0) return Math.max(pluginsCode, credentialsCode);
  const storageCode = await attempt(async () => print(`storage: ${await describeStorage(container, config)}\n`));
  return Math.max(credentialsCode, storageCode);
}

/** Returns the name of the storage and the state of its schema. Throws StorageUnavailable if `serve` could not use it. */
async function describeStorage(container: Container, config: Config): Promise<string> {
  const forServe = await describeSelected(container, config);
  const denied = forServe?.describeError?.('EACCES');
  if (denied) throw new StorageUnavailable(`cannot open ${forServe?.name}: ${denied}`);
  const database = await describeSelected(container, { ...config, readOnly: true });
  const driver = `driver ${database?.engine.driver}`;
  const pending = database ? await readPendingMigrations(database) : [];
  if (database && pending.length > 0)
    return `${describeDatabase(database, pending)}, ${driver}; serve applies ${pending.join(', ')}`;
  const storage = await container.getAsync(services.Storage);
  await storage.ready().finally(() => storage.close());
  return database
    ? `${database.name}, ${driver}; schema ${Object.keys(database.engine.migrations).at(-1)}, current`
    : `${storage.name ?? 'a plugin'}, without a schema`;
}
