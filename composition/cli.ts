#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { StorageUnavailable } from '../core/index.js';
import { StartFailure, serve } from './commands/serve.js';
import { InvalidConfig, readConfig, settings } from './config.js';

/** Exit codes of BSD's sysexits.h. */
const EX_USAGE = 64;
const EX_CONFIG = 78;

const flags = Object.values(settings).filter((setting) => !('flag' in setting));
const options = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
  ...Object.fromEntries(flags.map(({ variable }) => [flagOf(variable), { type: 'string' } as const])),
} as const;

process.exitCode = await run(process.argv.slice(2));

async function run(args: string[]): Promise<number> {
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [command = 'serve', ...rest] = positionals;
    if (values.help) return print(help());
    if (values.version) return print(version());
    if (command !== 'serve')
      return fail(EX_USAGE, `${JSON.stringify(command)} is not a command; see plant-store --help`);
    if (rest.length > 0)
      return fail(EX_USAGE, `${JSON.stringify(rest[0])} is one argument too many; see plant-store --help`);
    const given = flags.flatMap(({ variable }) => {
      const value = Object.entries(values).find(([flag]) => flag === flagOf(variable))?.[1];
      return value ? [[variable, value]] : [];
    });
    process.exit(await serve(readConfig({ ...process.env, ...Object.fromEntries(given) })));
  } catch (error) {
    if (error instanceof InvalidConfig) return fail(EX_CONFIG, ...error.problems);
    if (error instanceof StorageUnavailable || error instanceof StartFailure) return fail(1, error.message);
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

function version(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}

function help(): string {
  const rows = Object.values(settings).map((setting) => {
    const flag = 'flag' in setting ? '' : `--${flagOf(setting.variable)}`;
    return `  ${setting.variable.padEnd(20)} ${flag.padEnd(23)} ${setting.help} [${setting.default ?? 'none'}]`;
  });
  return [
    'Usage: plant-store [serve] [flags]',
    '',
    'Runs the plant store: POST /plants creates a plant.',
    '',
    'Example:',
    '  ACCESS_TOKENS_FILE=/etc/plant-store/tokens plant-store serve --port 8080 --database-url sqlite:/var/lib/plants.db',
    '',
    'Settings: an environment variable, or the flag, which goes before it. [default]',
    ...rows,
    '',
    '  --help, -h       this text',
    '  --version, -v    the version',
    '',
    'Exit codes: 0 stopped in good order, 1 failed or cut something off, 64 wrong usage, 78 a bad setting.',
  ].join('\n');
}
