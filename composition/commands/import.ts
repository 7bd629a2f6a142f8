import { once } from 'node:events';
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { type ImportSummary, importPlants } from '../../adapters/ndjson/index.js';
import type { Config } from '../config.js';
import { createContainer, services } from '../container.js';
import { CommandFailure } from '../failure.js';
import { progressBar } from '../progress.js';
import { exitCodeOf, interruption } from '../signals.js';

/** What `plant-store import` is given besides the settings. */
export interface ImportArguments {
  /** The file to read; standard input by default. */
  readonly file?: string | undefined;
  /** The file for what is refused; standard error by default. */
  readonly rejects?: string | undefined;
}

/** Reads NDJSON of NewPlant objects into the store. Resolves to the exit code of the process. */
export async function importFile(config: Config, { file, rejects }: ImportArguments): Promise<number> {
  const input = file === undefined ? process.stdin : await opened(createReadStream(file), file);
  const refused = rejects === undefined ? process.stderr : await opened(createWriteStream(rejects), rejects);
  const container = createContainer(config);
  const plants = await container.getAsync(services.PlantRepository);
  const { signal, received } = interruption();
  addAbortSignal(signal, input);
  const bar = progressBar('bytes', file === undefined ? undefined : statSync(file).size);
  let summary: ImportSummary = { created: 0, alreadyStored: 0, refused: 0, bytes: 0 };
  try {
    summary = await importPlants(input, {
      createPlant: await container.getAsync(services.CreatePlant),
      codec: await container.getAsync(services.PlantCodec),
      lineBytesMax: config.bodyLimitBytes,
      signal,
      onReject: async (reject) => {
        if (!refused.write(`${JSON.stringify(reject)}\n`)) await once(refused, 'drain');
      },
      onProgress: (soFar) => {
        summary = soFar;
        bar.update(soFar.bytes);
      },
    });
  } finally {
    bar.stop();
    await plants.close();
    if (refused !== process.stderr) await once(refused.end(), 'close');
    const { created, alreadyStored, refused: count } = summary;
    process.stderr.write(`${created} plants imported, ${alreadyStored} were stored already, ${count} lines refused\n`);
  }
  const interrupt = received();
  if (interrupt !== undefined) {
    process.stderr.write('interrupted; run the same import again to go on\n');
    return exitCodeOf(interrupt);
  }
  return summary.refused > 0 ? 1 : 0;
}

/** Waits until a file is open, or fails in one line. */
async function opened<T extends NodeJS.EventEmitter>(stream: T, path: string): Promise<T> {
  try {
    await once(stream, 'open');
    return stream;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    throw new CommandFailure(`cannot open ${path}: ${code}`);
  }
}
