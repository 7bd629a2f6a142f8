import type { Container } from 'inversify';
import type { Config } from '../config.js';
import { closeContainer, createContainer } from '../container.js';
import { services } from '../services.js';
import { print, reportFailure } from './output.js';

/** Prints the state of the storage, which it does not change, and each problem. The settings have been checked. */
export async function run(config: Config): Promise<number> {
  const container = await createContainer(config);
  container.rebind(services.ReadOnly).toConstantValue(true);
  const checks = [container.getAsync(services.TokenVerifier), checkStorage(container)];
  const exitCodes = await Promise.all(checks.map((check) => check.then(() => 0, reportFailure)));
  await closeContainer(container).catch(() => {});
  return Math.max(...exitCodes);
}

async function checkStorage(container: Container): Promise<void> {
  const storage = await container.getAsync(services.Storage);
  const { name = 'the storage', driver, pending = [] } = storage;
  if (pending.length === 0) await storage.ready();
  const plan = pending.length > 0 ? `; serve will apply ${pending.join(', ')}` : '';
  await print(`storage: ${name}${driver ? `, driver ${driver}` : ''}${plan}\n`);
}
