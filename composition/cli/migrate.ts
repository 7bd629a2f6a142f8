import type { Config } from '../config.js';
import { closeContainer, createContainer } from '../container.js';
import { services } from '../services.js';
import { print } from './output.js';

/** Opens the storage, which creates or migrates its schema, and prints the result. */
export async function run(config: Config): Promise<number> {
  const container = await createContainer(config);
  const { name = 'the storage', schema } = await container.getAsync(services.Storage);
  await closeContainer(container);
  await print(`${name}: ${schema ? `schema ${schema}` : 'no schema'}\n`);
  return 0;
}
