import { Command, CommanderError, Option } from 'commander';
import { type Setting, settingsOf } from '../config.js';
import { readVersion } from '../version.js';
import { commands, type Flags } from './commands.js';

/** A parsed command line. */
export type CommandLine =
  /** `settings` are those given as flags, by variable. */
  | { kind: 'run'; name: string; settings: Readonly<Record<string, string>>; flags: Flags; file: string | undefined }
  /** Print the help or the version. */
  | { kind: 'print'; text: string }
  | { kind: 'usage-error'; message: string };

/** The exit codes, for the help and the manual. */
export const EXIT_CODES: string = `Exit codes: 0 success, 1 failure (or rejected lines, or a create cut off by
a shutdown), 64 usage error, 78 invalid setting, 128 + n terminated by signal n.`;

/** Parses the arguments of the program. */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const args = toArguments(argv);
  let text = '';
  const program = createProgram((part) => {
    text += part;
  });
  try {
    program.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? { kind: 'print', text } : { kind: 'usage-error', message: describe(error, args[0]) };
  }
  const [name = ''] = program.args;
  const command = program.commands.find((each) => each.name() === name);
  const flags = command?.opts() ?? {};
  const settings: Record<string, string> = {};
  for (const setting of settingsOf(name)) {
    const value: unknown = flags[toOption(setting).attributeName()];
    if (typeof value === 'string') settings[setting.variable] = value;
  }
  return { kind: 'run', name, settings, flags, file: command?.args[0] };
}

/** Creates the program, with a command for each of `commands` and an option for each of their settings. */
export function createProgram(print: (text: string) => void): Command {
  const groups = [...new Set(settingsOf('serve').map(({ group }) => group.toLowerCase()))];
  const program = new Command('plant-store')
    .usage('[COMMAND] [settings]')
    .version(readVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help, or the help of a command')
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ subcommandTerm: (command) => command.name(), visibleArguments: () => [] })
    .configureOutput({ writeOut: print, outputError: () => {} })
    .addHelpText(
      'after',
      `
Example: plant-store --port 8080 --database-url postgres://localhost/plants

Settings are environment variables or flags: PORT=8080 or --port 8080.
plant-store COMMAND --help lists those that a command reads, by group:
${groups.join(', ')}.

${EXIT_CODES}`,
    );

  for (const [name, { summary, example, flags = {}, argument }] of commands) {
    const command = program.command(name).description(summary).helpOption('-h, --help', 'print this help');
    const settings = settingsOf(name);
    for (const setting of settings.filter(({ flag }) => flag !== false)) command.addOption(toOption(setting));
    for (const [flag, help] of Object.entries(flags)) command.option(flag, help);
    if (argument) command.argument(argument);
    const syntax = [argument, ...Object.keys(flags).map((flag) => `[${flag.replace(/[<>]/g, '')}]`)];
    command.usage([...syntax, settings.length > 0 ? '[settings]' : undefined].filter(Boolean).join(' '));
    const secrets = settings.filter(({ flag }) => flag === false).map(({ variable, help }) => `\n${variable}: ${help}`);
    const rule = 'Every setting is also a variable: LOG_LEVEL is --log-level. [Default].';
    const notes = settings.length > 0 ? [`${rule}${secrets.join('')}`] : [];
    command.addHelpText('after', `\n${[...notes, `Example: ${example}`, EXIT_CODES].join('\n\n')}`);
  }
  return program;
}

/** `help import` means `import --help`, `--port=80` means `--port 80`, and no command means `serve`. */
function toArguments([first = 'serve', ...rest]: readonly string[]): readonly string[] {
  if (first === 'help') return rest[0] === undefined || commands.has(rest[0]) ? [...rest, '--help'] : rest;
  const isFlagOfServe = first.startsWith('-') && !['-h', '--help', '-v', '--version'].includes(first);
  const args = [...(isFlagOfServe ? ['serve'] : []), first, ...rest];
  return args.flatMap((arg) => /^(--[\w-]+)=(.*)$/s.exec(arg)?.slice(1) ?? [arg]);
}

/** Returns a usage error in one line, with a suggestion if there is one. */
function describe({ message }: CommanderError, name = ''): string {
  const problem = message
    .replace(/^error: /, '')
    .replace('\n(D', ' (d')
    .replace(/\. .*/s, '');
  return `${problem}; see plant-store ${commands.has(name) ? `${name} ` : ''}--help`;
}

/** Returns the option of a setting: `--log-level` for `LOG_LEVEL`. */
function toOption({ variable, help, group, default: value }: Setting): Option {
  const flag = variable.toLowerCase().replaceAll('_', '-');
  return new Option(`--${flag} <value>`, value === undefined ? help : `${help} [${value}]`).helpGroup(`${group}:`);
}
