import { once } from 'node:events';
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { addAbortSignal, type Readable, type Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type ImportSummary, importPlants } from '../../adapters/ndjson/index.js';
import type { Config } from '../config.js';
import { createContainer, services } from '../container.js';
import { CommandFailure, fileFailure } from '../failure.js';
import { progressBar } from '../progress.js';
import { exitCodeOf, interruption } from '../signals.js';

/** What `plant-store import` is given besides the settings. */
export interface ImportArguments {
  /** The file to read; standard input by default. */
  readonly file?: string | undefined;
  /** The file for what is refused; standard error by default. */
  readonly rejects?: string | undefined;
  /** The summary for a program, on standard output. */
  readonly json?: boolean;
}

/** Reads NDJSON of NewPlant objects into the store. Resolves to the exit code of the process. */
export async function importFile(config: Config, { file, rejects, json }: ImportArguments): Promise<number> {
  const input = file === undefined ? process.stdin : await opened(createReadStream(file), file);
  if (file !== undefined && rejects !== undefined && isSameFile(file, rejects)) {
    throw new CommandFailure(`--rejects ${rejects} is the file that is read; it would be overwritten`);
  }
  const refused = rejects === undefined ? process.stderr : await opened(createWriteStream(rejects), rejects);
  // Whether it failed is asked where something is written.
  refused.on('error', () => {});
  const container = createContainer({ ...config, managementPort: 'off' });
  const plants = await container.getAsync(services.PlantRepository);
  const { signal, received } = interruption();
  addAbortSignal(signal, input);
  const bar = progressBar('bytes', file === undefined ? undefined : statSync(file).size);
  let summary: ImportSummary = { created: 0, alreadyStored: 0, refused: 0, bytes: 0 };
  try {
    summary = await importPlants(reading(input, file ?? 'standard input'), {
      createPlant: await container.getAsync(services.CreatePlant),
      codec: await container.getAsync(services.PlantCodec),
      lineBytesMax: config.bodyLimitBytes,
      signal,
      onReject: async (reject) => {
        if (refused === process.stderr) bar.clear();
        await written(refused, `${JSON.stringify(reject)}\n`, rejects ?? 'standard error');
      },
      onProgress: (soFar) => {
        summary = soFar;
        bar.update(soFar.bytes);
      },
    });
  } finally {
    bar.stop();
    await plants.close();
    const { created, alreadyStored, refused: count } = summary;
    if (json) process.stdout.write(`${JSON.stringify({ created, alreadyStored, refused: count })}\n`);
    else
      process.stderr.write(
        `${created} plants imported, ${alreadyStored} were stored already, ${count} lines refused\n`,
      );
    if (rejects !== undefined) await ended(refused, rejects);
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
    throw fileFailure(`open ${path}`, error);
  }
}

/** Whether both are names of one file. */
function isSameFile(path: string, other: string): boolean {
  const [one, two] = [path, other].map((name) => statSync(name, { throwIfNoEntry: false }));
  return one?.isFile() === true && one.dev === two?.dev && one.ino === two.ino;
}

/** What a stream brings; where it fails, it fails in one line. */
async function* reading(stream: Readable, name: string): AsyncGenerator<Uint8Array> {
  try {
    yield* stream;
  } catch (error) {
    throw fileFailure(`read ${name}`, error);
  }
}

/** Writes a text, waits where the stream is full, and fails in one line. */
async function written(stream: Writable, text: string, name: string): Promise<void> {
  try {
    if (stream.errored) throw stream.errored;
    if (!stream.write(text)) await once(stream, 'drain');
  } catch (error) {
    throw fileFailure(`write ${name}`, error);
  }
}

/** Waits until all is written, or fails in one line. */
async function ended(stream: Writable, name: string): Promise<void> {
  try {
    await finished(stream.end());
  } catch (error) {
    throw fileFailure(`write ${name}`, error);
  }
}
