import { existsSync } from 'node:fs';
import type { Container } from 'inversify';
import leven from 'leven';
import { type Config, InvalidConfig, settings } from '../config.js';
import { closeContainer, createContainer } from '../container.js';
import { services } from '../services.js';
import { print, reportFailure } from './output.js';

/** Maximum number of characters in which a mistyped variable differs from a setting. */
const MAX_TYPOS = 2;

/** Prints the settings, the state of the storage, which it does not change, and each problem. */
export async function run(config: Config, _file: string | undefined, environment: NodeJS.ProcessEnv): Promise<number> {
  const container = await createContainer(config);
  container.rebind(services.ReadOnly).toConstantValue(true);
  await print(describeSettings(config, environment));
  const checks = [checkNames(environment), container.getAsync(services.TokenVerifier), checkStorage(container)];
  const exitCodes = await Promise.all(checks.map((check) => check.then(() => 0, reportFailure)));
  await closeContainer(container).catch(() => {});
  await print('not checked: privileges to create plants, and whether the ports are free\n');
  return Math.max(...exitCodes);
}

/** Lists the settings that have a value, without secrets. */
function describeSettings(config: Config, environment: NodeJS.ProcessEnv): string {
  const lines = Object.values(settings).map(({ variable, default: value }) => {
    const text = variable === 'DATABASE_URL' ? config.database : environment[variable] || value;
    return text && `${variable}=${isSecret(variable, text) ? '(not shown)' : text}\n`;
  });
  return lines.join('');
}

function isSecret(variable: string, text: string): boolean {
  if (variable === 'DATABASE_URL') return !/^(sqlite|memory):/.test(text);
  // Unless the file exists, its path may be a secret in the wrong variable.
  return variable.endsWith('_FILE') ? !existsSync(text) : variable === 'ACCESS_TOKENS';
}

/** Rejects variables that look like mistyped settings. */
async function checkNames(environment: NodeJS.ProcessEnv): Promise<void> {
  // Too many names are similar to the short ones, such as PORT.
  const known = Object.values(settings).map(({ variable }) => variable);
  const problems: string[] = [];
  for (const name of Object.keys(environment)) {
    const meant = known.find((variable) => variable.length > 4 && leven(variable, name.toUpperCase()) <= MAX_TYPOS);
    if (meant && !known.includes(name)) problems.push(`${name}: no such setting; did you mean ${meant}?`);
  }
  if (problems.length > 0) throw new InvalidConfig(problems.join('\n'));
}

async function checkStorage(container: Container): Promise<void> {
  const storage = await container.getAsync(services.Storage);
  const { name = 'the storage', driver, schema, pending = [] } = storage;
  if (pending.length === 0) await storage.ready();
  const state = schema === 'missing' ? '; there is no store yet' : '';
  const plan = pending.length > 0 ? `; serve will apply ${pending.join(', ')}` : '';
  await print(`storage: ${name}${driver ? `, driver ${driver}` : ''}${state}${plan}\n`);
}
