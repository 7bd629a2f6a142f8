import type { Config } from '../config.js';
import { services } from '../services.js';
import { toStorageName } from '../storages.js';
import { print } from './output.js';
import { withContainer } from './with-container.js';

/** Opens the storage, which creates or migrates its schema, and prints the result. */
export async function run(config: Config): Promise<number> {
  const storage = await withContainer(config, { readOnly: false }, (container) => container.getAsync(services.Storage));
  const { schema } = storage;
  await print(`${toStorageName(storage, config)}: ${schema ? `schema ${schema}` : 'no schema'}\n`);
  return 0;
}
