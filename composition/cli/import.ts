import { open } from 'node:fs/promises';
import { importPlants } from '../../adapters/driving/ndjson/index.js';
import type { Config } from '../config.js';
import { closeContainer, createContainer } from '../container.js';
import { services } from '../services.js';
import { print } from './output.js';
import { showProgress } from './progress.js';

/** Creates a plant from each line of a file or standard input, and writes rejected lines to standard output. */
export async function run(config: Config, path = '-'): Promise<number> {
  const container = await createContainer(config);
  const file = path === '-' ? undefined : await open(path);
  const input = file?.createReadStream() ?? process.stdin;
  // Clears the progress from the line.
  const start = process.stdout.isTTY ? '\r\u001b[K' : '';
  try {
    const { created, alreadyStored, rejected } = await importPlants(showProgress(input, (await file?.stat())?.size), {
      createPlants: await container.getAsync(services.CreatePlant),
      codec: await container.getAsync(services.PlantCodec),
      maxLineBytes: config.bodyLimitBytes,
      onReject: (line) => print(`${start}${JSON.stringify(line)}\n`),
    });
    process.stderr.write(`${created} plants created, ${alreadyStored} already stored, ${rejected} lines rejected\n`);
    return rejected > 0 ? 1 : 0;
  } finally {
    await closeContainer(container);
  }
}
