import type { Config } from '../config.js';

type Values = Readonly<Record<string, unknown>>;

/** A flag of a command: one that is there or not, or one with a value. */
interface Flag {
  readonly type: 'boolean' | 'string';
  readonly help: string;
}

/** One word of the command line. */
export interface Command {
  readonly usage: string;
  readonly does: string;
  readonly example: string;
  /** Its own flags, beside those of the settings. */
  readonly flags: Readonly<Record<string, Flag>>;
  readonly argumentsMax: number;
  /** Resolves to the exit code of the process. What a command needs is loaded when it runs. */
  run(config: Config, values: Values, args: readonly string[]): Promise<number>;
}

/** Every command; `serve` is the default. */
export const commands: ReadonlyMap<string, Command> = new Map(
  Object.entries({
    serve: {
      usage: '[serve] [settings]',
      does: 'Runs the plant store: POST /plants creates a plant. The default.',
      example:
        'ACCESS_TOKENS_FILE=/etc/plant-store/tokens plant-store serve --port 8080 --database-url sqlite:/var/lib/plants.db',
      flags: {},
      argumentsMax: 0,
      run: async (config) => (await import('./serve.js')).serve(config),
    },
    import: {
      usage: 'import [FILE] [--rejects FILE] [--json] [settings]',
      does: 'Reads NDJSON of NewPlant objects from FILE or standard input into the store; what is refused is reported.',
      example: 'plant-store import plants.ndjson --rejects refused.ndjson',
      flags: {
        rejects: {
          type: 'string',
          help: 'the file for what is refused, a JSON object a line; standard error by default',
        },
        json: { type: 'boolean', help: 'the summary on standard output: {"created":2,"alreadyStored":0,"refused":1}' },
      },
      argumentsMax: 1,
      run: async (config, { rejects, json }, [file]) =>
        (await import('./import.js')).importFile(config, {
          file: file === '-' ? undefined : file,
          rejects: typeof rejects === 'string' ? rejects : undefined,
          json: json === true,
        }),
    },
    export: {
      usage: 'export [settings]',
      does: 'Writes the whole store as NDJSON, ordered by id, to standard output.',
      example: 'plant-store export | DATABASE_URL=postgres://localhost/plants plant-store import',
      flags: {},
      argumentsMax: 0,
      run: async (config) => (await import('./export.js')).exportAll(config),
    },
    migrate: {
      usage: 'migrate [--dry-run] [--json] [settings]',
      does: 'Brings the schema of the database up to date, as a start does, or shows what would be done.',
      example: 'plant-store migrate --dry-run --database-url postgres://localhost/plants',
      flags: {
        'dry-run': { type: 'boolean', help: 'says what would be done, and does nothing to the database' },
        json: { type: 'boolean', help: 'names of migrations: {"applied":["001_plants"],"pending":[]}' },
      },
      argumentsMax: 0,
      run: async (config, { 'dry-run': dryRun, json }) =>
        (await import('./migrate.js')).migrateSchema(config, { dryRun: dryRun === true, json: json === true }),
    },
    token: {
      usage: 'token [--json]',
      does: 'Makes a strong token, and prints it with the digest that stands for it in the settings.',
      example: 'plant-store token --json',
      flags: { json: { type: 'boolean', help: 'for a program: {"token":"…","digest":"sha256:…"}' } },
      argumentsMax: 0,
      run: async (_, { json }) => (await import('./token.js')).printToken(json === true),
    },
  } satisfies Record<string, Command>),
);
