import { type Command, commands } from './commands/index.js';
import { type Setting, settingsOf } from './config.js';

/** Width of the first column, and maximum width of the second. */
const INDENT = 24;
const TEXT_WIDTH = 80 - INDENT;

const EXIT_CODES = `Exit codes: 0 success, 1 failure (or rejected lines, or a create cut off by
a shutdown), 64 usage error, 78 invalid setting, 128 + n terminated by signal n.`;

/** Returns the help of the program, which fits a terminal of 80 columns and 24 lines. */
export function programHelp(): string {
  const groups = new Set(settingsOf('serve').map(({ group }) => group.toLowerCase()));
  return `Usage: plant-store [COMMAND] [settings]

${[...commands].map(([name, { summary }]) => `  ${name.padEnd(8)} ${summary}`).join('\n')}

Example: plant-store --port 8080 --database-url postgres://localhost/plants

Settings are environment variables or flags: PORT=8080 or --port 8080.
plant-store COMMAND --help lists those that a command reads, by group:
${[...groups].join(', ')}.

  --help, -h     print this help, or the help of a command
  --version, -v  print the version

${EXIT_CODES}`;
}

/** Returns the help of a command: its flags, and the settings that it reads. */
export function commandHelp(name: string, { usage, summary, example, flags = {} }: Command): string {
  const settings = settingsOf(name);
  const groups = new Set(settings.map(({ group }) => group));
  const sections = [
    Object.entries(flags).map(([flag, help]) => row(`--${flag}`, help)),
    settings.length > 0 ? ['Settings: flags (--log-level) or variables (LOG_LEVEL). Defaults in [brackets].'] : [],
    ...[...groups].map((group) => [`${group}:`, ...settings.filter((one) => one.group === group).map(settingRow)]),
  ].filter((lines) => lines.length > 0);
  return [
    `Usage: plant-store ${usage}`,
    summary,
    `Example: ${example}`,
    ...sections.map((lines) => lines.join('\n')),
    EXIT_CODES,
  ].join('\n\n');
}

function settingRow({ variable, flag, help, default: value }: Setting): string {
  return row(flag === false ? variable : `--${flagName(variable)}`, value === undefined ? help : `${help} [${value}]`);
}

/** Formats a row of two columns; wraps the second. */
function row(name: string, text: string): string {
  const lines = text.match(RegExp(`.{1,${TEXT_WIDTH}}(?= |$)`, 'g')) ?? [];
  return `  ${name.padEnd(INDENT - 2)}${lines.map((line) => line.trim()).join(`\n${' '.repeat(INDENT)}`)}`;
}

/** Returns the flag of a variable: `log-level` for `LOG_LEVEL`. */
export function flagName(variable: string): string {
  return variable.toLowerCase().replaceAll('_', '-');
}
