import { parseArgs } from 'node:util';
import { type Config, readConfig, settings, version } from '../config.js';
import { print, reportFailure, UsageError } from './output.js';

/** A command. Its module resolves to the exit code of the process. */
interface Command {
  readonly help: string;
  readonly load: () => Promise<{ run(config: Config, file: string | undefined): Promise<number> }>;
}

const commands: Readonly<Record<string, Command>> = {
  serve: { help: 'run the service; the default', load: () => import('./serve.js') },
  check: { help: 'check settings, plugins and storage; change nothing', load: () => import('./check.js') },
  import: { help: 'create plants from FILE or standard input (NDJSON)', load: () => import('./import.js') },
  export: { help: 'write all plants to standard output (NDJSON)', load: () => import('./export.js') },
  migrate: { help: 'create or migrate the schema, as serve does', load: () => import('./migrate.js') },
  token: { help: 'print a new random token and its digest', load: () => import('./token.js') },
};

/** The flags of the settings, by variable. Every user of the machine can read a command line, so none takes a token. */
const flags = Object.values(settings)
  .filter((setting) => setting !== settings.accessTokens)
  .map(({ variable }) => [variable, variable.toLowerCase().replaceAll('_', '-')] as const);

/** Runs a command line. Resolves to the exit code of the process. */
export async function run(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  // `print` reports failed writes.
  process.stdout.on('error', () => {});
  try {
    const { values, name, file } = parse(argv);
    if (values['help']) await print(helpText());
    else if (values['version']) await print(`${version}\n`);
    else {
      const given = flags.map(([variable, flag]) => [variable, values[flag] ?? environment[variable]]);
      const command = await commands[name]?.load();
      return (await command?.run(readConfig(Object.fromEntries(given)), file)) ?? 1;
    }
    return 0;
  } catch (error) {
    return reportFailure(error);
  }
}

function parse(argv: readonly string[]) {
  const own = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'v' } } as const;
  const options = Object.fromEntries(flags.map(([, flag]) => [flag, { type: 'string' } as const]));
  try {
    const parsed = parseArgs({ args: [...argv], options: { ...options, ...own }, allowPositionals: true });
    const [name = 'serve', file, ...others] = parsed.positionals;
    if (!Object.hasOwn(commands, name)) throw new Error(`Unknown command '${name}'`);
    if (others.length > 0 || (file !== undefined && name !== 'import')) throw new Error(`Too many arguments for ${name}`);
    return { values: parsed.values, name, file };
  } catch (error) {
    throw new UsageError(`${error}`)
  }
}

/** Lists commands and settings. */
function helpText(): string {
  const rows = Object.values(settings).map(({ variable, default: value, help }) => {
    return [variable, value === '' ? help : `${help} [${value}]`] as const;
  });
  const toLines = (pairs: readonly (readonly [string, string])[]) =>
    pairs.map(([term, text]) => `  ${term.padEnd(19)}  ${text}\n`).join('');
  return `Usage: plant-store [COMMAND] [--SETTING VALUE]…

${toLines(Object.entries(commands).map(([name, { help }]) => [name, help]))}
A setting is a variable or, except ACCESS_TOKENS, a flag, which takes precedence:
PORT=8080 or --port 8080. Defaults are in brackets.

${toLines(rows)}
-h, --help and -v, --version print this text and the version.
Exit codes: 0 success, 1 failure or rejected lines, 64 usage error, 78 invalid
setting, 128 + n signal n.
`;
}
