import type { Container } from 'inversify';
import type { Config } from '../config.js';
import { createContainer } from '../container.js';
import { loadPlugins } from '../plugins.js';
import { services } from '../services.js';
import { print, reportFailure } from './output.js';

/** Prints the state of the storage, which it does not change, and each problem. The settings have been checked. */
export async function run(config: Config): Promise<number> {
  const container = createContainer({ ...config, managementPort: 'off', readOnly: true });
  await loadPlugins(container, config.plugins);
  const checks = [container.getAsync(services.TokenVerifier), checkStorage(container)];
  const exitCodes = (await Promise.allSettled(checks)).map((result) =>
    result.status === 'rejected' ? reportFailure(result.reason) : 0,
  );
  return Math.max(...(await Promise.all(exitCodes)));
}

async function checkStorage(container: Container): Promise<void> {
  const storage = await container.getAsync(services.Storage);
  const { name = 'the storage', driver = 'a plugin', pending = [] } = storage;
  const plan = pending.length > 0 ? `; serve will apply ${pending.join(', ')}` : '';
  try {
    if (pending.length === 0) await storage.ready();
  } finally {
    await storage.close();
  }
  await print(`storage: ${name}, driver ${driver}${plan}\n`);
}
