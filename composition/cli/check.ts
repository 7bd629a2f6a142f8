import type { Container } from 'inversify';
import type { Config } from '../config.js';
import { loadContainer } from '../plugins.js';
import { services } from '../services.js';
import { print, reportFailure } from './output.js';

/** Prints the state of the storage, which it does not change, and each problem. The settings have been checked. */
export async function run(config: Config): Promise<number> {
  const container = await loadContainer({ ...config, managementPort: 'off', readOnly: true });
  const checks = [container.getAsync(services.TokenVerifier), checkStorage(container)];
  const exitCodes = checks.map((check) => check.then(() => 0, reportFailure));
  return Math.max(...(await Promise.all(exitCodes)));
}

async function checkStorage(container: Container): Promise<void> {
  const storage = await container.getAsync(services.Storage);
  const { name = 'the storage', driver, pending = [] } = storage;
  const plan = pending.length > 0 ? `; serve will apply ${pending.join(', ')}` : '';
  try {
    if (pending.length === 0) await storage.ready();
  } finally {
    await storage.close();
  }
  await print(`storage: ${name}${driver ? `, driver ${driver}` : ''}${plan}\n`);
}
