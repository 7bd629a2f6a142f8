import { readConfig } from '../config.js';
import { readMaxConnections } from '../open-files.js';
import { commands } from './commands.js';
import { fail, print, reportFailure } from './output.js';
import { parseCommandLine } from './program.js';

/** An exit code of BSD's sysexits.h. */
const EX_USAGE = 64;

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
    readMaxConnections();
    const config = readConfig({ ...environment, ...settings }, name);
    const command = await commands.get(name)?.load();
    return (await command?.run(config, flags, file)) ?? 1;
  } catch (error) {
    return reportFailure(error);
  }
}
