#!/usr/bin/env node
import { inspect, parseArgs } from 'node:util';
import { StorageUnavailable } from '../core/index.js';
import { CommandError } from './command-error.js';
import { commands } from './commands/index.js';
import { InvalidConfig, readConfig, settingsOf } from './config.js';
import { commandHelp, flagName, programHelp } from './help.js';
import { assertEnoughFiles } from './open-files.js';
import { readVersion } from './version.js';

/** Exit codes of BSD's sysexits.h. */
const EX_USAGE = 64;
const EX_CONFIG = 78;

/** The flags that are not settings. */
const FLAGS = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
  json: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  rejects: { type: 'string' },
} as const;

/** Maximum number of edits between an unknown name and the one that is suggested for it. */
const MAX_EDITS = 2;

process.exit(await run(process.argv.slice(2)));

async function run(argv: readonly string[]): Promise<number> {
  // `help import` means `import --help`.
  const args = argv[0] === 'help' ? [...argv.slice(1), '--help'] : [...argv];
  const named = args[0]?.startsWith('-') === false ? args.shift() : undefined;
  const name = named ?? 'serve';
  const command = commands.get(name);
  const failUsage = (problem: string) =>
    fail(EX_USAGE, `${problem}; see plant-store ${command && named ? `${named} ` : ''}--help`);
  if (command === undefined) {
    const known = [...commands.keys()];
    return failUsage(`unknown command ${JSON.stringify(name)}${suggest(name, known)}: use ${known.join(', ')}`);
  }
  const variables = new Map(
    settingsOf(name).flatMap(({ variable, flag }) => (flag === false ? [] : [[flagName(variable), variable] as const])),
  );
  const settingFlags = Object.fromEntries([...variables.keys()].map((flag) => [flag, { type: 'string' } as const]));
  const options = { ...settingFlags, ...FLAGS };
  const flags = ['help', 'version', ...Object.keys(command.flags ?? {}), ...variables.keys()];
  for (const token of parseArgs({ args, options, strict: false, tokens: true }).tokens) {
    if (token.kind !== 'option' || flags.includes(token.name)) continue;
    const candidates = flags.map((flag) => `--${flag}`);
    return failUsage(`unknown flag ${token.rawName}${suggest(token.rawName, candidates)}`);
  }
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (values.help) return print(named === undefined ? programHelp() : commandHelp(name, command));
    if (values.version) return print(readVersion());
    const unexpected = positionals[command.takesFile ? 1 : 0];
    if (unexpected !== undefined) return failUsage(`unexpected argument ${JSON.stringify(unexpected)}`);
    const given = Object.entries(values).filter(([flag, value]) => variables.has(flag) && value);
    assertEnoughFiles();
    const settings = Object.fromEntries(given.map(([flag, value]) => [variables.get(flag), value]));
    const config = readConfig({ ...process.env, ...settings }, name);
    return await (await command.load()).run(config, values, positionals[0]);
  } catch (error) {
    if (error instanceof InvalidConfig) return fail(EX_CONFIG, error.message);
    if (error instanceof StorageUnavailable || error instanceof CommandError) return fail(1, error.message);
    if (error instanceof Error && 'code' in error && `${error.code}`.startsWith('ERR_PARSE_ARGS_')) {
      return failUsage(`${error.message.split(/\.\s|\n/, 1)[0]}`);
    }
    // The message of any other error may contain user data.
    const { describeError } = await import('./logger.js');
    return fail(1, `internal error: ${inspect(describeError(error))}`);
  }
}

/** Returns a suggestion with the known name most similar to `name`, or an empty string. */
function suggest(name: string, known: readonly string[]): string {
  const similar = [1, MAX_EDITS].flatMap((edits) => known.filter((other) => isSimilar(name, other, edits)));
  return similar[0] === undefined ? '' : ` (did you mean ${similar[0]}?)`;
}

/** Returns whether at most `edits` letters must be inserted, removed or replaced to turn `a` into `b`. */
function isSimilar(a: string, b: string, edits: number): boolean {
  if (a === b) return true;
  if (a !== '' && a[0] === b[0]) return isSimilar(a.slice(1), b.slice(1), edits);
  if (edits === 0) return false;
  const shorter = [a.slice(1), b.slice(1)] as const;
  return isSimilar(...shorter, edits - 1) || isSimilar(shorter[0], b, edits - 1) || isSimilar(a, shorter[1], edits - 1);
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

/** Prints each line of a message. */
function fail(exitCode: number, message: string): number {
  for (const line of message.split('\n')) process.stderr.write(`plant-store: ${line}\n`);
  return exitCode;
}
