import { pendingMigrations } from '../../adapters/knex/index.js';
import type { Config } from '../config.js';
import { createContainer, isReplaced, services } from '../container.js';
import { createDatabase } from '../database.js';
import { loadPlugins } from '../plugins.js';
import type { Flags } from './index.js';

/** Migrates the schema, or prints the pending migrations. Resolves to the exit code of the process. */
export async function run(config: Config, { 'dry-run': dryRun = false, json }: Flags): Promise<number> {
  const container = createContainer({ ...config, managementPort: 'off' });
  container.rebind(services.Database).toConstantValue(createDatabase(config, { readOnly: dryRun }));
  const get = await loadPlugins(container, config.plugins);
  const database = await get(services.Database);
  const hasSchema = database !== undefined && !isReplaced(container, services.Storage, services.PlantRepository);
  const names = hasSchema ? await pendingMigrations(database) : [];
  // Opening the repository migrates the schema; a plugin's storage prepares itself in the same way.
  if (!dryRun) await (await get(services.PlantRepository)).close();
  const result = dryRun ? { applied: [], pending: names } : { applied: names, pending: [] };
  const steps = names.map((name) => `${dryRun ? 'would apply' : 'applied'} ${name}\n`);
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : steps.join('') || 'the schema is up to date\n');
  return 0;
}
