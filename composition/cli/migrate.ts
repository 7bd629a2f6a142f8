import type { Config } from '../config.js';
import { services } from '../services.js';
import { toScheme } from '../storages.js';
import { print } from './output.js';
import { withContainer } from './with-container.js';

/** Opens the storage, which creates or migrates its schema, and prints the result. */
export async function run(config: Config): Promise<number> {
  const storage = await withContainer(config, { readOnly: false }, (container) => container.getAsync(services.Storage));
  const { name = toScheme(config), schema } = storage;
  await print(`${name}: ${schema ? `schema ${schema}` : 'no schema'}\n`);
  return 0;
}
