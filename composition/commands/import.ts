import { once } from 'node:events';
import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type ImportSummary, importPlants } from '../../adapters/ndjson/index.js';
import { CommandError, toCommandError, translateErrors } from '../command-error.js';
import type { Config } from '../config.js';
import { createContainer, services } from '../container.js';
import { loadPlugins } from '../plugins.js';
import { progressBar } from '../progress.js';
import { onSignals, signalExitCode } from '../signals.js';
import type { Flags } from './index.js';

/** Imports NDJSON of NewPlant objects from a file or standard input. Resolves to the exit code of the process. */
export async function run(config: Config, { rejects: rejectsPath, json }: Flags, path?: string): Promise<number> {
  const file = path === '-' ? undefined : path;
  const openFile = (name: string, flags: string) => translateErrors(`open ${name}`, () => open(name, flags));
  const input = file === undefined ? process.stdin : (await openFile(file, 'r')).createReadStream();
  if (file !== undefined && rejectsPath !== undefined && isSameFile(file, rejectsPath)) {
    throw new CommandError(`--rejects ${rejectsPath} would overwrite the input; choose another file`);
  }
  const rejectsOutput =
    rejectsPath === undefined ? process.stderr : (await openFile(rejectsPath, 'w')).createWriteStream();
  // Ignored here: the next rejected line or the final `finished` reports the error.
  rejectsOutput.on('error', () => {});
  const container = createContainer({ ...config, managementPort: 'off' });
  const get = await loadPlugins(container, config.plugins);
  const repository = await get(services.PlantRepository);
  const controller = new AbortController();
  onSignals(['SIGINT', 'SIGTERM'], (name) => controller.abort(name));
  addAbortSignal(controller.signal, input);
  const bar = progressBar('bytes', file === undefined ? undefined : statSync(file).size);
  let summary: ImportSummary = { created: 0, alreadyStored: 0, rejected: 0, bytes: 0 };
  try {
    summary = await importPlants(input, {
      createPlant: await get(services.CreatePlant),
      codec: await get(services.PlantCodec),
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
    await repository.close();
    const { bytes: _, ...counts } = summary;
    if (json) process.stdout.write(`${JSON.stringify(counts)}\n`);
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
