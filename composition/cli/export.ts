import { pipeline } from 'node:stream/promises';
import { exportPlants } from '../../adapters/driving/ndjson/index.js';
import { StorageUnavailable } from '../../core/index.js';
import type { Config } from '../config.js';
import { closeContainer, createContainer } from '../container.js';
import { services } from '../services.js';
import { showProgress } from './progress.js';

/** Writes all plants as NDJSON to standard output. */
export async function run(config: Config): Promise<number> {
  const container = await createContainer(config);
  container.rebind(services.ReadOnly).toConstantValue(true);
  try {
    const { name = 'the storage', schema, pending = [] } = await container.getAsync(services.Storage);
    if (schema === 'missing') throw new StorageUnavailable(`there is no store at ${name}; check DATABASE_URL`);
    if (pending.length > 0)
      throw new StorageUnavailable(`${name} lacks ${pending.join(', ')}; run plant-store migrate`);
    const readPlants = await container.getAsync(services.ReadPlants);
    const lines = exportPlants(readPlants, await container.getAsync(services.PlantCodec));
    // On a terminal, the plants would overwrite the progress.
    await pipeline(process.stdout.isTTY ? lines : showProgress(lines), process.stdout);
  } catch (error) {
    // The reader closed the pipe, as `head` does.
    if (Object(error).code !== 'EPIPE') throw error;
  } finally {
    await closeContainer(container);
  }
  return 0;
}
