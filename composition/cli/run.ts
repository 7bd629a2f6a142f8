import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type Config, findTypos, readConfig, variables } from '../config.js';
import { toReason } from '../describe-error.js';
import { InvalidConfig } from '../files.js';
import { settings } from '../settings.js';
import { version } from '../version.js';
import { print, reportFailure, UsageError } from './output.js';

/** Gets the FILE of `import` or the NAME of `token`, and variables and flags. Resolves to the exit code. */
type Run = (
  config: Config,
  options: { argument: string | undefined; environment: NodeJS.ProcessEnv },
) => Promise<number>;

const commands: Readonly<Record<string, { help: string; load: () => Promise<{ run: Run }> }>> = {
  serve: { help: 'run the service; the default', load: () => import('./serve.js') },
  check: { help: 'check settings, plugins and storage; change nothing', load: () => import('./check.js') },
  import: { help: 'create plants from FILE or standard input (NDJSON)', load: () => import('./import.js') },
  export: { help: 'write all plants to standard output (NDJSON)', load: () => import('./export.js') },
  migrate: { help: 'create or migrate the schema, as serve does', load: () => import('./migrate.js') },
  health: { help: 'check the health of a service with these settings', load: () => import('./health.js') },
  token: { help: 'print a new token, and its entry for the client NAME', load: () => import('./token.js') },
};

const toFlag = (variable: string) => variable.toLowerCase().replaceAll('_', '-');

/** Runs a command line. Resolves to the exit code of the process. */
export async function run(argv: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  // `print` reports failed writes.
  process.stdout.on('error', () => {});
  try {
    const { values, command, argument } = parse(argv);
    if (values['help'] || values['version']) {
      await print(values['help'] ? helpText() : `${version}\n`);
      return 0;
    }
    const effective = { ...environment };
    for (const variable of variables) {
      const value = values[toFlag(variable)];
      if (typeof value === 'string' && value.trim()) effective[variable] = value;
    }
    // A flag takes precedence, also over the file that contains its value.
    if (`${values['database-url'] ?? ''}`.trim()) effective['DATABASE_URL_FILE'] = '';
    // By default, SIGHUP would end the process. The service handles it once the container exists.
    if (command === commands['serve']) process.on('SIGHUP', () => {});
    const { run } = await command.load();
    return await run(readConfig(effective), { argument, environment: effective });
  } catch (error) {
    const exitCode = reportFailure(error);
    const typos = findTypos(environment).filter((problem) => !`${error}`.includes(problem));
    for (const problem of typos) reportFailure(new InvalidConfig(problem));
    return exitCode;
  }
}

function parse(argv: readonly string[]) {
  const options: NonNullable<ParseArgsConfig['options']> = {
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean', short: 'v' },
  };
  for (const variable of variables) options[toFlag(variable)] = { type: 'string' };
  // Every user of the machine can read a command line.
  delete options['access-tokens'];
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
    const [name = 'serve', argument] = positionals;
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (command === undefined) throw new Error(`Unknown command '${name.replace(/[=:].*/s, '…')}'`);
    const maxWords = ['import', 'token'].includes(name) ? 2 : 1;
    if (positionals.length > maxWords) throw new Error(`Too many arguments for ${name}`);
    return { values, command, argument };
  } catch (error) {
    // The first sentence of parseArgs is enough.
    const [problem] = toReason(error).split(/\. |\.?\n/, 1);
    throw new UsageError(`${problem}; see plant-store --help`);
  }
}

/** Lists commands and settings. */
function helpText(): string {
  const toLine = (term: string, text: string) => `  ${term.padEnd(19)}  ${text}\n`;
  const commandLines = Object.entries(commands).map(([name, { help }]) => toLine(name, help));
  const settingLines = Object.values(settings).map(({ variable, default: value, help }) =>
    toLine(variable, value === '' ? help : `${help} [${value}]`),
  );
  return `Usage: plant-store [COMMAND] [FILE | NAME] [--setting VALUE]…

${commandLines.join('')}
Settings are variables or flags: PORT=8080 or --port 8080. A flag takes
precedence. ACCESS_TOKENS has no flag. Defaults are in brackets.

${settingLines.join('')}
-h, --help and -v, --version print this text and the version.
Exit codes: 0 success, 1 failure or rejected lines, 64 usage error, 78 invalid
setting, 128 + n signal n.
`;
}
