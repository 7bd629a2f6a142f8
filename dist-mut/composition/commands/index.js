/** Every command; `serve` is the default. */
export const commands = new Map(Object.entries({
    serve: {
        usage: '[serve] [settings]',
        does: 'Runs the plant store: POST /plants creates a plant.',
        example: 'ACCESS_TOKENS_FILE=/etc/plant-store/tokens plant-store serve --port 8080 --database-url sqlite:/var/lib/plants.db',
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
        run: async (config, { rejects }, [file]) => (await import('./import.js')).importFile(config, {
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
}));
//# sourceMappingURL=index.js.map