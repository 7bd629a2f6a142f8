import { existsSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { exportPlants } from '../../adapters/ndjson/index.js';
import { CommandError, toCommandError } from '../command-error.js';
import type { Config } from '../config.js';
import { createContainer, isReplaced, services } from '../container.js';
import { createDatabase } from '../database.js';
import { loadPlugins } from '../plugins.js';
import { progressBar } from '../progress.js';

/** Writes all plants as NDJSON to standard output. Resolves to the exit code of the process. */
export async function run(config: Config): Promise<number> {
  const container = createContainer({ ...config, managementPort: 'off' });
  container.rebind(services.Database).toConstantValue(createDatabase(config, { readOnly: true }));
  const get = await loadPlugins(container, config.plugins);
  const database = await get(services.Database);
  const isStorageReplaced = isReplaced(container, services.Storage, services.PlantRepository);
  if (database?.file && !existsSync(database.file) && !isStorageReplaced) {
    throw new CommandError(`nothing to export: ${database.name} does not exist; check DATABASE_URL`);
  }
  const repository = await get(services.PlantRepository);
  const readPlants = await get(services.ReadPlants);
  const codec = await get(services.PlantCodec);
  // On a terminal, the plants would overwrite the bar.
  const bar = progressBar('plants', undefined, process.stderr.isTTY && !process.stdout.isTTY);
  try {
    // Pipes the generator directly: a Readable in between would read ahead, and a page may be large.
    await pipeline(
      exportPlants(readPlants, codec, (count) => bar.update(count)),
      process.stdout,
    );
    return 0;
  } catch (error) {
    // Only writes throw errors with `syscall`: the repository hides its driver's errors.
    if (!(error instanceof Error && 'syscall' in error && 'code' in error)) throw error;
    // The reader closed the pipe, as `head` does.
    if (error.code === 'EPIPE') return 0;
    throw toCommandError('write to standard output', error);
  } finally {
    bar.stop();
    await repository.close();
  }
}
