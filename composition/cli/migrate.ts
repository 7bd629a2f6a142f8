import type { Config } from '../config.js';
import { loadContainer } from '../plugins.js';
import { services } from '../services.js';
import { print } from './output.js';

/** Opens the storage, which creates or migrates its schema, and prints the result. */
export async function run(config: Config): Promise<number> {
  const container = await loadContainer({ ...config, managementPort: 'off' });
  const storage = await container.getAsync(services.Storage);
  await storage.close();
  await print(`${storage.name ?? 'the storage'}: ${storage.schema ? `schema ${storage.schema}` : 'no schema'}\n`);
  return 0;
}
