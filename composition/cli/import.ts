import { once } from 'node:events';
import { fstatSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type ImportSummary, importPlants } from '../../adapters/driving/ndjson/index.js';
import type { Config } from '../config.js';
import { createContainer, services } from '../container.js';
import { loadPlugins } from '../plugins.js';
import { logNewStore } from '../storage.js';
import { CommandError, toCommandError, translateErrors } from './command-error.js';
import type { Flags } from './commands.js';
import { print } from './output.js';
import { progressBar } from './progress.js';
import { onSignals, signalExitCode } from './signals.js';

const STANDARD_INPUT = 0;

/** Imports NDJSON of NewPlant objects from a file or standard input. Resolves to the exit code of the process. */
export async function run(config: Config, { rejects, json }: Flags, path?: string): Promise<number> {
  const container = createContainer({ ...config, managementPort: 'off' });
  logNewStore(container);
  await (await loadPlugins(container, config))();
  const file = path === '-' ? undefined : path;
  const rejectsPath = rejects || undefined;
  // Node reads a directory as an empty stream.
  if (file === undefined && fstatSync(STANDARD_INPUT).isDirectory()) {
    throw toCommandError('read standard input', 'EISDIR');
  }
  const openFile = (name: string, flags: string) => translateErrors(`open ${name}`, () => open(name, flags));
  const input = file === undefined ? process.stdin : (await openFile(file, 'r')).createReadStream();
  if (file !== undefined && rejectsPath !== undefined && isSameFile(file, rejectsPath)) {
    throw new CommandError(`--rejects ${rejectsPath} would overwrite the input; choose another file`);
  }
  const rejectsOutput =
    rejectsPath === undefined ? process.stderr : (await openFile(rejectsPath, 'w')).createWriteStream();
  // Ignored here, because the next rejected line or the final `finished` reports the error.
  rejectsOutput.on('error', () => {});
  const storage = await container.getAsync(services.Storage);
  const controller = new AbortController();
  onSignals(['SIGINT', 'SIGTERM'], (name) => controller.abort(name));
  addAbortSignal(controller.signal, input);
  const bar = progressBar('bytes', file === undefined ? undefined : statSync(file).size);
  let summary: ImportSummary = { created: 0, alreadyStored: 0, rejected: 0, bytes: 0 };
  try {
    summary = await importPlants(input, {
      createPlants: await container.getAsync(services.CreatePlant),
      codec: await container.getAsync(services.PlantCodec),
      maxLineBytes: config.bodyLimitBytes,
      signal: controller.signal,
      onReject: async (rejectedLine) => {
        if (rejectsOutput === process.stderr) bar.clear();
        if (rejectsOutput.errored) throw rejectsOutput.errored;
        if (!rejectsOutput.write(`${JSON.stringify(rejectedLine)}\n`)) await once(rejectsOutput, 'drain');
      },
      onProgress: (current) => {
        summary = current;
        bar.update(current.bytes);
      },
    });
  } catch (error) {
    if (error === input.errored) throw toCommandError(`read ${file ?? 'standard input'}`, error);
    throw error === rejectsOutput.errored ? toCommandError(`write ${rejectsPath ?? 'standard error'}`, error) : error;
  } finally {
    bar.stop();
    await storage.close();
    const { bytes: _, ...counts } = summary;
    if (json) await print(`${JSON.stringify(counts)}\n`);
    else process.stderr.write(`${describeSummary(summary)}\n`);
    if (rejectsPath !== undefined) await translateErrors(`write ${rejectsPath}`, () => finished(rejectsOutput.end()));
  }
  if (controller.signal.aborted) {
    process.stderr.write('interrupted; run the same import again to continue\n');
    return signalExitCode(controller.signal.reason);
  }
  return summary.rejected > 0 ? 1 : 0;
}

function describeSummary({ created, alreadyStored, rejected }: ImportSummary): string {
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
  return `${count(created, 'plant')} created, ${alreadyStored} already stored, ${count(rejected, 'line')} rejected`;
}

function isSameFile(path: string, other: string): boolean {
  const [one, two] = [path, other].map((name) => statSync(name, { throwIfNoEntry: false }));
  return one?.isFile() === true && one.dev === two?.dev && one.ino === two.ino;
}
