import type { Config } from '../config.js';

/** The flags of the commands, in addition to the settings. */
export interface Flags {
  readonly json?: boolean;
  readonly dryRun?: boolean;
  readonly rejects?: string;
}

/** A command of the executable. */
export interface Command {
  readonly summary: string;
  readonly example: string;
  /** The syntax of its argument. */
  readonly argument?: string;
  /** The flags that are not settings, with their help. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Loads the module of the command. `run` resolves to the exit code of the process. */
  load(): Promise<{ run(config: Config, flags: Flags, file?: string): Promise<number> }>;
}

const table: Readonly<Record<string, Command>> = {
  serve: {
    summary: 'Runs the service: POST /plants creates a plant. The default.',
    example: 'plant-store serve --port 8080 --access-tokens-file ./tokens',
    load: () => import('./serve.js'),
  },
  check: {
    summary: 'Prints the settings of serve, and checks them, the plugins and the storage.',
    example: 'plant-store check --database-url sqlite:./plants.db',
    load: () => import('./check.js'),
  },
  import: {
    summary: 'Imports plants, one JSON object per line; reports rejected lines.',
    example: 'plant-store import plants.ndjson --rejects errors.ndjson',
    argument: '[FILE]',
    flags: {
      '--rejects <FILE>':
        'write the number and error of each rejected line to this file (NDJSON); default: standard error',
      '--json': 'print the summary as JSON: {"created":2,"alreadyStored":0,"rejected":1}',
    },
    load: () => import('./import.js'),
  },
  export: {
    summary: 'Writes all plants, one JSON object per line, ordered by id.',
    example: 'plant-store export --database-url postgres://localhost/plants',
    load: () => import('./export.js'),
  },
  migrate: {
    summary: 'Migrates the database schema, as serve does at startup.',
    example: 'plant-store migrate --dry-run --database-url sqlite:./plants.db',
    flags: {
      '--dry-run': 'print the pending migrations and change nothing',
      '--json': 'print the result as JSON: {"applied":["001_plants"],"pending":[]}',
    },
    load: () => import('./migrate.js'),
  },
  token: {
    summary: 'Creates a random token and prints it with its digest.',
    example: 'plant-store token --json',
    flags: { '--json': 'print JSON: {"token":"…","digest":"sha256:…"}' },
    load: () => import('./token.js'),
  },
};

/** Every command; `serve` is the default. */
export const commands: ReadonlyMap<string, Command> = new Map(Object.entries(table));
