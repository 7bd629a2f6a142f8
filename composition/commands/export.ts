import { pipeline } from 'node:stream/promises';
import { exportPlants } from '../../adapters/ndjson/index.js';
import type { Config } from '../config.js';
import { createContainer, services } from '../container.js';
import { databaseOf } from '../database.js';
import { CommandFailure, fileFailure } from '../failure.js';
import { noProgress, progressBar } from '../progress.js';

/** Writes the whole store as NDJSON to standard output. Resolves to the exit code of the process. */
export async function exportAll(config: Config): Promise<number> {
  const database = databaseOf(config);
  if (database?.file?.isMissing()) {
    throw new CommandFailure(`there is nothing to export: ${database.name} does not exist; look at DATABASE_URL`);
  }
  const container = createContainer({ ...config, managementPort: 'off' });
  const plants = await container.getAsync(services.PlantRepository);
  const readPlants = await container.getAsync(services.ReadPlants);
  const codec = await container.getAsync(services.PlantCodec);
  // On one terminal the plants would be written over the bar.
  const bar = process.stdout.isTTY ? noProgress : progressBar('plants');
  try {
    // Without a Readable between them nothing is read ahead: a page may be large.
    await pipeline(
      exportPlants(readPlants, codec, (count) => bar.update(count)),
      process.stdout,
    );
    return 0;
  } catch (error) {
    // Of all that fails here, only writing is a system call's failure; what comes from the storage has lost its own.
    if (!(error instanceof Error && 'syscall' in error && 'code' in error)) throw error;
    // Whoever read the other end has had enough, as `head` does.
    if (error.code === 'EPIPE') return 0;
    throw fileFailure('write to standard output', error);
  } finally {
    bar.stop();
    await plants.close();
  }
}
