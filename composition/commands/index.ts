import type { ParseArgsConfig } from 'node:util';
import type { Config } from '../config.js';

type Values = Readonly<Record<string, unknown>>;

/** One word of the command line. */
export interface Command {
  readonly usage: string;
  readonly does: string;
  readonly example: string;
  /** Its own flags, beside those of the settings. */
  readonly options: NonNullable<ParseArgsConfig['options']>;
  readonly argumentsMax: number;
  /** Resolves to the exit code of the process. What a command needs is loaded when it runs. */
  run(config: Config, values: Values, args: readonly string[]): Promise<number>;
}

/** Every command; `serve` is the default. */
export const commands: ReadonlyMap<string, Command> = new Map(
  Object.entries({
    serve: {
      usage: '[serve] [settings]',
      does: 'Runs the plant store: POST /plants creates a plant.',
      example:
        'ACCESS_TOKENS_FILE=/etc/plant-store/tokens plant-store serve --port 8080 --database-url sqlite:/var/lib/plants.db',
      options: {},
      argumentsMax: 0,
      run: async (config) => (await import('./serve.js')).serve(config),
    },
    import: {
      usage: 'import [FILE] [--rejects FILE] [settings]',
      does: 'Reads NDJSON of NewPlant objects from FILE or standard input into the store; what is refused is reported.',
      example: 'plant-store import plants.ndjson --rejects refused.ndjson',
      options: { rejects: { type: 'string' } },
      argumentsMax: 1,
      run: async (config, { rejects }, [file]) =>
        (await import('./import.js')).importFile(config, {
          file: file === '-' ? undefined : file,
          rejects: typeof rejects === 'string' ? rejects : undefined,
        }),
    },
    export: {
      usage: 'export [settings]',
      does: 'Writes the whole store as NDJSON, ordered by id, to standard output.',
      example: 'plant-store export | DATABASE_URL=postgres://localhost/plants plant-store import',
      options: {},
      argumentsMax: 0,
      run: async (config) => (await import('./export.js')).exportAll(config),
    },
    migrate: {
      usage: 'migrate [--dry-run] [settings]',
      does: 'Brings the schema of the database up to date, as a start does, or shows what would be done.',
      example: 'plant-store migrate --dry-run --database-url postgres://localhost/plants',
      options: { 'dry-run': { type: 'boolean' } },
      argumentsMax: 0,
      run: async (config, values) => (await import('./migrate.js')).migrateSchema(config, values['dry-run'] === true),
    },
    token: {
      usage: 'token [--json]',
      does: 'Makes a strong token, and prints it with the digest that stands for it in the settings.',
      example: 'plant-store token --json',
      options: { json: { type: 'boolean' } },
      argumentsMax: 0,
      run: async (_, values) => (await import('./token.js')).printToken(values['json'] === true),
    },
  } satisfies Record<string, Command>),
);
