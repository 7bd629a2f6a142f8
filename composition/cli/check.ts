import { type Config, findTypos } from '../config.js';
import { createContainer } from '../container.js';
import { InvalidConfig } from '../files.js';
import type { ServiceContainer } from '../service-container.js';
import { services } from '../services.js';
import { settings } from '../settings.js';
import { toScheme } from '../storages.js';
import { print, reportFailure } from './output.js';

/** Prints the settings, the state of the storage, which it does not change, and each problem. */
export async function run(config: Config, { environment }: { environment: NodeJS.ProcessEnv }): Promise<number> {
  const container = await createContainer(config, { readOnly: true, metrics: false });
  for (const { variable, default: value } of Object.values(settings)) {
    const text = variable === 'DATABASE_URL' ? config.database : environment[variable]?.trim() || value;
    if (text) await print(`${variable}=${isSecret(variable, text) ? '(not shown)' : text}\n`);
  }
  const typos = findTypos(environment).map((problem) => reportFailure(new InvalidConfig(problem)));
  // A plugin may replace the verifier, but `serve` reads the tokens, too.
  const tokens = container.getAsync(services.AccessTokens).then(() => container.getAsync(services.TokenVerifier));
  const checks: Promise<unknown>[] = [tokens, checkStorage(container, config)];
  const exitCodes = await Promise.all(checks.map((check) => check.then(() => 0, reportFailure)));
  // Closing reports a failed part again.
  await container.close().catch(() => {});
  await print('not checked: privileges to create plants, and whether the ports are free\n');
  return Math.max(...typos, ...exitCodes);
}

function isSecret(variable: string, text: string): boolean {
  if (variable === 'DATABASE_URL') return !/^(sqlite|memory):/.test(text);
  // A URL may contain a password or a key.
  return variable === 'ACCESS_TOKENS' || /:.*[@?#]/s.test(text);
}

async function checkStorage(container: ServiceContainer, config: Config): Promise<void> {
  const storage = await container.getAsync(services.Storage);
  const { name = toScheme(config), driver, schema, pending = [], warnings = [] } = storage;
  if (pending.length === 0) await storage.ready();
  const facts = [`storage: ${name}${driver ? `, driver ${driver}` : ''}`, ...warnings];
  if (schema === 'missing') facts.push('there is no store yet');
  if (pending.length > 0) facts.push(`serve will apply ${pending.join(', ')}`);
  await print(`${facts.join('; ')}\n`);
}
