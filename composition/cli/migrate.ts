import type { Config } from '../config.js';
import { createContainer, services } from '../container.js';
import { loadPlugins } from '../plugins.js';
import { logNewStore } from '../storage.js';
import type { Flags } from './commands.js';
import { print } from './output.js';

/** Migrates the schema. Resolves to the exit code of the process. */
export async function run(config: Config, _: Flags): Promise<number> {
  const container = createContainer({ ...config, managementPort: 'off' });
  logNewStore(container);
  await (await loadPlugins(container, config))();
  const storage = await container.getAsync(services.Storage);
  await storage.close();
  await print(`${storage.schema ?? 'this storage has no migrations'}\n`);
  return 0;
}
