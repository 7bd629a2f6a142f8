import { readPendingMigrations } from '../../adapters/driven/knex/index.js';
import type { Config } from '../config.js';
import { createContainer, describeSelected, services } from '../container.js';
import { loadPlugins } from '../plugins.js';
import { describeDatabase, logNewStore } from '../storage.js';
import type { Flags } from './commands.js';
import { print } from './output.js';

/** Migrates the schema, or prints the pending migrations. Resolves to the exit code of the process. */
export async function run(config: Config, { dryRun = false, json }: Flags): Promise<number> {
  const container = createContainer({ ...config, managementPort: 'off' });
  logNewStore(container);
  const createServices = await loadPlugins(container, config);
  // Logs warnings about settings.
  await container.getAsync(services.Logger);
  const database = await describeSelected(container, { ...config, readOnly: dryRun });
  const names = database ? await readPendingMigrations(database) : [];
  // Opening the database migrates its schema. Another storage may prepare itself in the same way.
  if (!dryRun) {
    await createServices();
    await (await container.getAsync(services.Storage)).close();
  }
  const result = dryRun ? { applied: [], pending: names } : { applied: names, pending: [] };
  const steps = names.map((name) => `${dryRun ? 'would apply' : 'applied'} ${name}\n`);
  if (dryRun && database && names.length > 0) steps.unshift(`${describeDatabase(database, names)}\n`);
  const done = database
    ? 'the schema is up to date\n'
    : 'this storage has no migrations; only SQL databases have them\n';
  await print(json ? `${JSON.stringify(result)}\n` : steps.join('') || done);
  return 0;
}
