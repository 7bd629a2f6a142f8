import { pipeline } from 'node:stream/promises';
import { exportPlants } from '../../adapters/driving/ndjson/index.js';
import type { Config } from '../config.js';
import { createContainer, services } from '../container.js';
import { loadPlugins } from '../plugins.js';
import { failTo } from './output.js';
import { progressBar } from './progress.js';
import { onStop, signalExitCode } from './signals.js';

/** Writes all plants as NDJSON to standard output. Resolves to the exit code of the process. */
export async function run(config: Config): Promise<number> {
  const container = createContainer({ ...config, managementPort: 'off', readOnly: true });
  await (await loadPlugins(container, config))();
  const storage = await container.getAsync(services.Storage);
  const readPlants = await container.getAsync(services.ReadPlants);
  const codec = await container.getAsync(services.PlantCodec);
  const controller = new AbortController();
  onStop((signal) => controller.abort(signal));
  // On a terminal, the plants would overwrite the bar.
  const bar = progressBar('plants', undefined, process.stderr.isTTY && !process.stdout.isTTY);
  try {
    // Pipes the generator directly: a Readable in between would read ahead, and a page may be large.
    const lines = exportPlants(readPlants, codec, bar.update);
    await pipeline(lines, process.stdout, { signal: controller.signal });
    return 0;
  } catch (error) {
    if (controller.signal.aborted) return signalExitCode(controller.signal.reason);
    // Only writes throw errors with `syscall`: the repository hides its driver's errors.
    if (!(error instanceof Error && 'syscall' in error && 'code' in error)) throw error;
    // The reader closed the pipe, as `head` does.
    if (error.code === 'EPIPE') return 0;
    return failTo('write to standard output', error);
  } finally {
    bar.stop();
    await storage.close();
  }
}
