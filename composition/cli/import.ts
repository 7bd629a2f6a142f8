import { open } from 'node:fs/promises';
import { importPlants } from '../../adapters/driving/ndjson/index.js';
import type { Config } from '../config.js';
import { services } from '../services.js';
import { print } from './output.js';
import { showProgress } from './progress.js';
import type { Invocation } from './run.js';
import { withContainer } from './with-container.js';

/** Creates a plant from each line of a file or standard input, and writes rejected lines to standard output. */
export async function run(config: Config, { file: path = '-' }: Invocation): Promise<number> {
  const file = path === '-' ? undefined : await open(path);
  const input = file?.createReadStream() ?? process.stdin;
  const size = (await file?.stat())?.size;
  // Clears the progress from the line.
  const start = process.stdout.isTTY ? '\r\u001b[K' : '';
  const { created, alreadyStored, rejected } = await withContainer(config, async (container) =>
    importPlants(showProgress(input, size), {
      createPlants: await container.getAsync(services.CreatePlant),
      codec: await container.getAsync(services.PlantCodec),
      maxLineBytes: config.bodyLimitBytes,
      onReject: (line) => print(`${start}${JSON.stringify(line)}\n`),
    }),
  );
  process.stderr.write(`${created} plants created, ${alreadyStored} already stored, ${rejected} lines rejected\n`);
  return rejected > 0 ? 1 : 0;
}
