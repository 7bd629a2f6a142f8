import { once } from 'node:events';
import { createReadStream, fstatSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { type ImportSummary, importPlants } from '../../adapters/driving/ndjson/index.js';
import type { Config } from '../config.js';
import { createContainer, services } from '../container.js';
import { loadPlugins } from '../plugins.js';
import { logNewStore } from '../storage.js';
import type { Flags } from './commands.js';
import { CommandError, failTo, print } from './output.js';
import { progressBar } from './progress.js';
import { onStop, signalExitCode } from './signals.js';

/** Imports NDJSON of NewPlant objects from a file or standard input. Resolves to the exit code of the process. */
export async function run(config: Config, { rejects, json }: Flags, path = '-'): Promise<number> {
  const container = createContainer({ ...config, managementPort: 'off' });
  logNewStore(container);
  await (await loadPlugins(container, config))();
  const openFile = (name: string, flags: string) => open(name, flags).catch((error) => failTo(`open ${name}`, error));
  const [inputName, rejectsName] = [path === '-' ? 'standard input' : path, rejects || 'standard error'];
  // Node reads a directory as an empty stream.
  if (path === '-' && fstatSync(STANDARD_INPUT).isDirectory()) failTo(`read ${inputName}`, 'EISDIR');
  if (rejects && (await isNeeded(rejects, path).catch((error) => failTo(`open ${rejects}`, error))))
    throw new CommandError(`--rejects ${rejects} would overwrite the input or other data; choose another file`);
  const input = path === '-' ? process.stdin : (await openFile(path, 'r')).createReadStream();
  const output = rejects ? (await openFile(rejects, 'w')).createWriteStream() : process.stderr;
  // Ignored here, because the next rejected line or the final `finished` reports the error.
  output.on('error', () => {});
  const storage = await container.getAsync(services.Storage);
  const controller = new AbortController();
  onStop((signal) => controller.abort(signal));
  addAbortSignal(controller.signal, input);
  const bar = progressBar('bytes', path === '-' ? undefined : statSync(path).size);
  let summary: ImportSummary = { created: 0, alreadyStored: 0, rejected: 0, bytes: 0 };
  try {
    summary = await importPlants(input, {
      createPlants: await container.getAsync(services.CreatePlant),
      codec: await container.getAsync(services.PlantCodec),
      maxLineBytes: config.bodyLimitBytes,
      signal: controller.signal,
      onReject: async (rejectedLine) => {
        if (!rejects) bar.clear();
        if (output.errored) throw output.errored;
        if (!output.write(`${JSON.stringify(rejectedLine)}\n`)) await once(output, 'drain');
      },
      onProgress: (current) => {
        summary = current;
        bar.update(current.bytes);
      },
    });
  } catch (error) {
    if (error === input.errored) failTo(`read ${inputName}`, error);
    if (error === output.errored) failTo(`write ${rejectsName}`, error);
    throw error;
  } finally {
    bar.stop();
    await storage.close();
    const { bytes: _, ...counts } = summary;
    if (json) await print(`${JSON.stringify(counts)}\n`);
    else process.stderr.write(`${describeSummary(summary)}\n`);
    if (rejects) await finished(output.end()).catch((error) => failTo(`write ${rejects}`, error));
  }
  if (controller.signal.aborted) {
    process.stderr.write('interrupted; run the same import again to continue\n');
    return signalExitCode(controller.signal.reason);
  }
  return summary.rejected > 0 ? 1 : 0;
}

const STANDARD_INPUT = 0;
const START_OF_REJECTED_LINE = '{"line":';

function describeSummary({ created, alreadyStored, rejected }: ImportSummary): string {
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
  return `${count(created, 'plant')} created, ${alreadyStored} already stored, ${count(rejected, 'line')} rejected`;
}

/** Returns whether a file is the input, or starts with anything but a rejected line; it may be the store. */
async function isNeeded(path: string, inputPath: string): Promise<boolean> {
  const statusOf = (name: string) => statSync(name, { throwIfNoEntry: false });
  const [status, input] = [statusOf(path), inputPath === '-' ? fstatSync(STANDARD_INPUT) : statusOf(inputPath)];
  if (!status?.isFile()) return false;
  if (status.dev === input?.dev && status.ino === input.ino) return true;
  const start = await text(createReadStream(path, { end: START_OF_REJECTED_LINE.length - 1 }));
  return start !== '' && start !== START_OF_REJECTED_LINE;
}
