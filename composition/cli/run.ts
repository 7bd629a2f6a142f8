import { inspect } from 'node:util';
import { isPlantStoreError } from '../../core/index.js';
import { readConfig } from '../config.js';
import { InvalidConfig } from '../invalid-config.js';
import { maxConnections } from '../open-files.js';
import { commands } from './commands.js';
import { CommandError, print } from './output.js';
import { parseCommandLine } from './program.js';

/** Exit codes of BSD's sysexits.h. */
const EX_USAGE = 64;
const EX_CONFIG = 78;

/** Runs a command line. Resolves to the exit code of the process. */
export async function run(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const commandLine = parseCommandLine(argv);
  if (commandLine.kind === 'usage-error') return fail(EX_USAGE, commandLine.message);
  try {
    if (commandLine.kind === 'print') {
      await print(commandLine.text);
      return 0;
    }
    const { name, settings, flags, file } = commandLine;
    // Throws if the limit on open files is too low.
    maxConnections();
    const config = readConfig({ ...environment, ...settings }, name);
    const command = await commands.get(name)?.load();
    return (await command?.run(config, flags, file)) ?? 1;
  } catch (error) {
    if (error instanceof InvalidConfig) return fail(EX_CONFIG, error.message);
    if (isPlantStoreError(error) || error instanceof CommandError) return fail(1, error.message);
    // The message of any other error may contain user data.
    const { describeError } = await import('../../adapters/driven/logging/index.js');
    return fail(1, `internal error: ${inspect(describeError(error))}`);
  }
}

/** Prints each line of a message. */
function fail(exitCode: number, message: string): number {
  for (const line of message.split('\n')) process.stderr.write(`plant-store: ${line}\n`);
  return exitCode;
}
