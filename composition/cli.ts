#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { StorageUnavailable } from '../core/index.js';
import { type Command, commands } from './commands/index.js';
import { InvalidConfig, readConfig, settings } from './config.js';
import { CommandFailure } from './failure.js';
import { version } from './version.js';

/** Exit codes of BSD's sysexits.h. */
const EX_USAGE = 64;
const EX_CONFIG = 78;

const EXIT_CODES =
  'Exit codes: 0 done, 1 failed or something was refused or cut off, 64 wrong usage, 78 a bad setting, 128 + n ended by signal n.';

const flags = Object.values(settings).filter((setting) => !('flag' in setting));

process.exit(await run(process.argv.slice(2)));

async function run(given: readonly string[]): Promise<number> {
  // `help import` is `import --help`.
  const args = given[0] === 'help' ? [...given.slice(1), '--help'] : [...given];
  const name = args[0]?.startsWith('-') === false ? args.shift() : undefined;
  const command = commands.get(name ?? 'serve');
  const wrong = (problem: string) =>
    fail(EX_USAGE, `${problem}; see plant-store ${command && name ? `${name} ` : ''}--help`);
  if (command === undefined) {
    return wrong(`${JSON.stringify(name)} is not a command (${[...commands.keys()].join(', ')})`);
  }
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
        ...command.flags,
        ...Object.fromEntries(flags.map(({ variable }) => [flagOf(variable), { type: 'string' } as const])),
      },
    });
    if (values['help']) return print(name === undefined ? help() : helpOf(command));
    if (values['version']) return print(version());
    if (positionals.length > command.argumentsMax) {
      return wrong(`${JSON.stringify(positionals[command.argumentsMax])} is one argument too many`);
    }
    const set = flags.flatMap(({ variable }) => {
      const value = Object.entries(values).find(([flag]) => flag === flagOf(variable))?.[1];
      return value ? [[variable, value]] : [];
    });
    return await command.run(readConfig({ ...process.env, ...Object.fromEntries(set) }), values, positionals);
  } catch (error) {
    if (error instanceof InvalidConfig) return fail(EX_CONFIG, ...error.problems);
    if (error instanceof StorageUnavailable || error instanceof CommandFailure) return fail(1, error.message);
    if (isParseArgsError(error)) return wrong(`${error.message.split(/\.\s|\n/, 1)[0]}`);
    throw error;
  }
}

function flagOf(variable: string): string {
  return variable.toLowerCase().replaceAll('_', '-');
}

function isParseArgsError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && `${error.code}`.startsWith('ERR_PARSE_ARGS_');
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function fail(exitCode: number, ...problems: readonly string[]): number {
  for (const problem of problems) process.stderr.write(`plant-store: ${problem}\n`);
  return exitCode;
}

/** The help of all. */
function help(): string {
  return [
    'Usage: plant-store [COMMAND] [settings]',
    '',
    ...[...commands].map(([name, { does }]) => `  ${name.padEnd(8)} ${does}`),
    '',
    'Example: plant-store --port 8080 --database-url postgres://localhost/plants',
    'The flags of a command, and an example: plant-store COMMAND --help',
    '',
    ...settingRows(),
    '',
    '  --help, -h       this text, or that of one command',
    '  --version, -v    the version',
    '',
    EXIT_CODES,
  ].join('\n');
}

/** The help of one command. */
function helpOf({ usage, does, example, flags }: Command): string {
  const rows = Object.entries(flags).map(([flag, { type, help }]) => {
    return `  ${`--${flag}${type === 'string' ? ' FILE' : ''}`.padEnd(16)} ${help}`;
  });
  return [
    `Usage: plant-store ${usage}`,
    '',
    does,
    '',
    `Example: ${example}`,
    '',
    ...(rows.length > 0 ? [...rows, ''] : []),
    ...(usage.endsWith('[settings]') ? [...settingRows(), ''] : []),
    EXIT_CODES,
  ].join('\n');
}

function settingRows(): string[] {
  const rows = Object.values(settings).map((setting) => {
    const flag = 'flag' in setting ? '' : `--${flagOf(setting.variable)}`;
    return `  ${setting.variable.padEnd(20)} ${flag.padEnd(23)} ${setting.help} [${setting.default ?? 'none'}]`;
  });
  return ['Settings: an environment variable, or the flag, which goes before it. [default]', ...rows];
}
