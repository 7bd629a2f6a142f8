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

const flags = Object.values(settings).filter((setting) => !('flag' in setting));

process.exit(await run(process.argv.slice(2)));

async function run(args: string[]): Promise<number> {
  try {
    const name = args[0]?.startsWith('-') === false ? args[0] : undefined;
    const command = commands.get(name ?? 'serve');
    if (command === undefined)
      return fail(EX_USAGE, `${JSON.stringify(name)} is not a command; see plant-store --help`);
    const { values, positionals } = parseArgs({
      args: name === undefined ? args : args.slice(1),
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
        ...command.options,
        ...Object.fromEntries(flags.map(({ variable }) => [flagOf(variable), { type: 'string' } as const])),
      },
    });
    if (values['help']) return print(help(name === undefined ? undefined : command));
    if (values['version']) return print(version());
    if (positionals.length > command.argumentsMax) {
      const extra = JSON.stringify(positionals[command.argumentsMax]);
      return fail(EX_USAGE, `${extra} is one argument too many; see plant-store --help`);
    }
    const given = flags.flatMap(({ variable }) => {
      const value = Object.entries(values).find(([flag]) => flag === flagOf(variable))?.[1];
      return value ? [[variable, value]] : [];
    });
    return await command.run(readConfig({ ...process.env, ...Object.fromEntries(given) }), values, positionals);
  } catch (error) {
    if (error instanceof InvalidConfig) return fail(EX_CONFIG, ...error.problems);
    if (error instanceof StorageUnavailable || error instanceof CommandFailure) return fail(1, error.message);
    if (isParseArgsError(error))
      return fail(EX_USAGE, `${error.message.split(/\.\s|\n/, 1)[0]}; see plant-store --help`);
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

/** The help of one command, or of all. */
function help(command: Command | undefined): string {
  const rows = Object.values(settings).map((setting) => {
    const flag = 'flag' in setting ? '' : `--${flagOf(setting.variable)}`;
    return `  ${setting.variable.padEnd(20)} ${flag.padEnd(23)} ${setting.help} [${setting.default ?? 'none'}]`;
  });
  const shown = command ? [command] : [...commands.values()];
  return [
    ...shown.flatMap(({ usage, does, example }) => [
      `Usage: plant-store ${usage}`,
      `  ${does}`,
      `  Example: ${example}`,
      '',
    ]),
    'Settings: an environment variable, or the flag, which goes before it. [default]',
    ...rows,
    '',
    '  --help, -h       this text, or that of one command',
    '  --version, -v    the version',
    '',
    'Exit codes: 0 done, 1 failed or something was refused or cut off, 64 wrong usage, 78 a bad setting, 128 + n ended by signal n.',
  ].join('\n');
}
