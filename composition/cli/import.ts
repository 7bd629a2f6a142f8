import { open } from 'node:fs/promises';
import { JsonPlantCodec } from '@plant-store/adapters/api';
import { importPlants } from '@plant-store/adapters/ndjson';
import { CreatePlants } from '@plant-store/core';
import type { Config } from '../config.js';
import { services } from '../services.js';
import { fail, print } from './output.js';
import { showProgress } from './progress.js';
import { withContainer } from './with-container.js';

/** Creates a plant from each line of a file or standard input, and writes rejected lines to standard output. */
export async function run(config: Config, { argument: path = '-' }: { argument: string | undefined }): Promise<number> {
  const file = path === '-' ? undefined : await open(path);
  const input = file?.createReadStream() ?? process.stdin;
  const size = (await file?.stat())?.size;
  const clearLine = process.stdout.isTTY ? '\r\u001b[K' : '';
  const result = await withContainer(config, { readOnly: false }, async (container) =>
    importPlants(showProgress(input, size), {
      createPlants: new CreatePlants(await container.getAsync(services.PlantWriter)),
      codec: new JsonPlantCodec(await container.getAsync(services.Description)),
      bodyLimitBytes: config.bodyLimitBytes,
      onReject: (line) => print(`${clearLine}${JSON.stringify(line)}\n`),
    }),
  );
  if (result.kind === 'not-ndjson') return fail(1, result.hint);
  const { created, alreadyStored, rejected } = result;
  const plural = (count: number) => (count === 1 ? '' : 's');
  const summary = `${created} plant${plural(created)} created, ${alreadyStored} already stored, ${rejected} line${plural(rejected)} rejected`;
  process.stderr.write(`${summary}\n`);
  return rejected > 0 ? 1 : 0;
}
