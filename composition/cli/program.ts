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
  let run: CommandLine | undefined;
  let text = '';
  const program = createProgram(
    (commandLine) => {
      run = commandLine;
    },
    (part) => {
      text += part;
    },
  );
  const args = toArguments(argv);
  try {
    program.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) return { kind: 'usage-error', message: toUsageError(error, args[0]) };
  }
  return run ?? { kind: 'print', text };
}

/** Creates the program, with a command for each of `commands` and an option for each of their settings. */
export function createProgram(onRun: (commandLine: CommandLine) => void, print: (text: string) => void): Command {
  const program = new Command('plant-store')
    .usage('[COMMAND] [settings]')
    .version(readVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help, or the help of a command')
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ subcommandTerm: (command) => command.name(), visibleArguments: () => [] })
    .configureOutput({ writeOut: print, outputError: () => {} })
    .addHelpText('after', programNotes());

  for (const [name, { usage, summary, example, flags = {}, takesFile = false }] of commands) {
    const command = program.command(name).usage(usage).description(summary).helpOption('-h, --help', 'print this help');
    const settings = settingsOf(name);
    const variables = new Map<string, string>();
    for (const setting of settings.filter(({ flag }) => flag !== false)) {
      const option = new Option(`--${toFlag(setting.variable)} <value>`, describe(setting));
      command.addOption(option.helpGroup(`${setting.group}:`));
      variables.set(option.attributeName(), setting.variable);
    }
    for (const [flag, help] of Object.entries(flags)) command.option(flag, help);
    if (takesFile) command.argument('[FILE]');
    command.addHelpText('after', commandNotes(example, settings));
    command.action(() => {
      const values: Readonly<Record<string, string>> = command.opts();
      const given = [...variables].flatMap(([key, variable]) => (key in values ? [[variable, values[key]]] : []));
      onRun({ kind: 'run', name, settings: Object.fromEntries(given), flags: values, file: command.args[0] });
    });
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

/** Returns the problem in one line, with a suggestion if there is one. */
function toUsageError({ message }: CommanderError, name: string | undefined): string {
  const problem = message
    .replace(/^error: /, '')
    .replace('\n(D', ' (d')
    .replace(/\. .*/s, '');
  return `${problem}; see plant-store ${commands.has(name ?? '') ? `${name} ` : ''}--help`;
}

function programNotes(): string {
  const groups = new Set(settingsOf('serve').map(({ group }) => group.toLowerCase()));
  return `
Example: plant-store --port 8080 --database-url postgres://localhost/plants

Settings are environment variables or flags: PORT=8080 or --port 8080.
plant-store COMMAND --help lists those that a command reads, by group:
${[...groups].join(', ')}.

${EXIT_CODES}`;
}

function commandNotes(example: string, settings: readonly Setting[]): string {
  const secrets = settings.filter(({ flag }) => flag === false).map(({ variable, help }) => `\n${variable}: ${help}`);
  const rule = 'Every setting is also a variable: LOG_LEVEL is --log-level. [Default].';
  const notes = settings.length > 0 ? [`${rule}${secrets.join('')}`] : [];
  return `\n${[...notes, `Example: ${example}`, EXIT_CODES].join('\n\n')}`;
}

function describe({ help, default: value }: Setting): string {
  return value === undefined ? help : `${help} [${value}]`;
}

/** Returns the flag of a variable: `log-level` for `LOG_LEVEL`. */
function toFlag(variable: string): string {
  return variable.toLowerCase().replaceAll('_', '-');
}
