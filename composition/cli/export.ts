import { pipeline } from 'node:stream/promises';
import { JsonPlantCodec } from '@plant-store/adapters/api';
import { exportPlants } from '@plant-store/adapters/ndjson';
import { ReadPlants, StorageUnavailable } from '@plant-store/core';
import type { Config } from '../config.js';
import { services } from '../services.js';
import { toScheme } from '../storages.js';
import { isBrokenPipe } from './output.js';
import { showProgress } from './progress.js';
import { withContainer } from './with-container.js';

/** Writes all plants as NDJSON to standard output. */
export async function run(config: Config): Promise<number> {
  await withContainer(config, { readOnly: true }, async (container) => {
    const storage = await container.getAsync(services.Storage);
    const { name = toScheme(config), schema, pending = [] } = storage;
    if (schema === 'missing') throw new StorageUnavailable(`there is no store at ${name}; check DATABASE_URL`);
    if (pending.length > 0)
      throw new StorageUnavailable(`${name} lacks ${pending.join(', ')}; run plant-store migrate`);
    const readPlants = new ReadPlants(storage);
    const lines = exportPlants(readPlants, new JsonPlantCodec());
    // On a terminal, the plants would overwrite the progress.
    await pipeline(process.stdout.isTTY ? lines : showProgress(lines), process.stdout).catch((error) => {
      if (!isBrokenPipe(error)) throw error;
    });
  });
  return 0;
}
