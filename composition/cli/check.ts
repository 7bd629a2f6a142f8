import { existsSync } from 'node:fs';
import type { Container } from 'inversify';
import leven from 'leven';
import { type Config, InvalidConfig, settings, variables } from '../config.js';
import { closeContainer, createContainer } from '../container.js';
import { services } from '../services.js';
import { toStorageName } from '../storages.js';
import { print, reportFailure } from './output.js';

/** Maximum number of characters in which a mistyped variable differs from a setting. */
const MAX_TYPOS = 2;

/** Prints the settings, the state of the storage, which it does not change, and each problem. */
export async function run(config: Config, { environment }: { environment: NodeJS.ProcessEnv }): Promise<number> {
  const container = await createContainer(config);
  container.rebind(services.ReadOnly).toConstantValue(true);
  await print(describeSettings(config, environment));
  const checks = [checkNames(environment), readTokens(container), checkStorage(container, config)];
  const exitCodes = await Promise.all(checks.map((check) => check.then(() => 0, reportFailure)));
  // Fails again if the storage could not be opened.
  await closeContainer(container).catch(() => {});
  await print('not checked: privileges to create plants, and whether the ports are free\n');
  return Math.max(...exitCodes);
}

/** Lists the settings that have a value, without secrets. */
function describeSettings(config: Config, environment: NodeJS.ProcessEnv): string {
  let lines = '';
  for (const { variable, default: value } of Object.values(settings)) {
    const text = variable === 'DATABASE_URL' ? config.database : environment[variable]?.trim() || value;
    if (text) lines += `${variable}=${isSecret(variable, text) ? '(not shown)' : text}\n`;
  }
  return lines;
}

function isSecret(variable: string, text: string): boolean {
  if (variable === 'DATABASE_URL') return !/^(sqlite|memory):/.test(text);
  // Unless the file exists, its path may be a secret in the wrong variable.
  if (variable.endsWith('_FILE')) return !existsSync(text);
  // A URL may contain a password or a key.
  return variable === 'ACCESS_TOKENS' || /:.*[@?#]/s.test(text);
}

/** Rejects variables that look like mistyped settings. */
async function checkNames(environment: NodeJS.ProcessEnv): Promise<void> {
  // Too many names are similar to the short ones, such as PORT.
  const candidates = variables.filter(({ length }) => length > 4);
  const problems: string[] = [];
  for (const name of Object.keys(environment).filter((each) => !variables.includes(each))) {
    const meant = candidates.find((variable) => leven(variable, name.toUpperCase()) <= MAX_TYPOS);
    if (meant) problems.push(`${name}: no such setting; did you mean ${meant}?`);
  }
  if (problems.length > 0) throw new InvalidConfig(problems.join('\n'));
}

async function readTokens(container: Container): Promise<void> {
  // A plugin may replace the verifier, but `serve` reads these, too.
  await container.getAsync(services.AccessTokens);
  await container.getAsync(services.TokenVerifier);
}

async function checkStorage(container: Container, config: Config): Promise<void> {
  const storage = await container.getAsync(services.Storage);
  const { driver, schema, pending = [] } = storage;
  if (pending.length === 0) await storage.ready();
  let line = `storage: ${toStorageName(storage, config)}`;
  if (driver) line += `, driver ${driver}`;
  if (schema === 'missing') line += '; there is no store yet';
  if (pending.length > 0) line += `; serve will apply ${pending.join(', ')}`;
  await print(`${line}\n`);
}
