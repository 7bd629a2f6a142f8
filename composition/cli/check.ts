import type { Container } from 'inversify';
import type { Config } from '../config.js';
import { createContainer, isReplaced, services } from '../container.js';
import { loadPlugins } from '../plugins.js';
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
  const storageCode = await attempt(async () => print(`storage: ${await describeStorage(container)}\n`));
  return Math.max(credentialsCode, storageCode);
}

/** Returns the name of the storage and the state of its schema. Throws StorageUnavailable if `serve` could not use it. */
async function describeStorage(container: Container): Promise<string> {
  const storage = await container.getAsync(services.Storage);
  const { name = 'a plugin', driver, pending = [] } = storage;
  if (pending.length === 0) await storage.ready().finally(() => storage.close());
  const schema = pending.length > 0 ? `serve applies ${pending.join(', ')}` : 'schema current';
  return driver ? `${name}, driver ${driver}; ${schema}` : name;
}
