import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { exportPlants } from '../../adapters/ndjson/index.js';
import type { Config } from '../config.js';
import { createContainer, services } from '../container.js';
import { progressBar } from '../progress.js';

/** Writes the whole store as NDJSON to standard output. Resolves to the exit code of the process. */
export async function exportAll(config: Config): Promise<number> {
  const container = createContainer(config);
  const plants = await container.getAsync(services.PlantRepository);
  const readPlants = await container.getAsync(services.ReadPlants);
  const codec = await container.getAsync(services.PlantCodec);
  const bar = progressBar('plants');
  try {
    await pipeline(Readable.from(exportPlants(readPlants, codec, (count) => bar.update(count))), process.stdout);
    return 0;
  } catch (error) {
    // Whoever read the other end has had enough, as `head` does.
    if (error instanceof Error && 'code' in error && error.code === 'EPIPE') return 0;
    throw error;
  } finally {
    bar.stop();
    await plants.close();
  }
}
