import leven from 'leven';
import { toReason } from './describe-error.js';
import { clean, InvalidConfig } from './files.js';
import { settings } from './settings.js';

/** The value of every setting: durations in milliseconds, and `undefined` if a setting without a default is unset. */
export type Config = {
  readonly [Key in keyof typeof settings]: ReturnType<(typeof settings)[Key]['parse']>;
};

/**
 * Reads the settings. An empty variable counts as unset; white space around a value is removed.
 * @throws {InvalidConfig} A setting is invalid. The message has every problem.
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, { variable, default: value, parse }] of Object.entries(settings)) {
    try {
      values[key] = parse(clean(environment[variable] ?? '') || value);
    } catch (error) {
      problems.push(`${variable}: ${toReason(error)}`);
    }
  }
  // Complete unless there are problems, which end this function.
  const config = values as Config;
  if (config.port > 0 && config.port === config.managementPort) problems.push('PORT and MANAGEMENT_PORT must differ');
  if (config.requestTimeoutMs < config.headersTimeoutMs)
    problems.push('REQUEST_TIMEOUT must not be less than HEADERS_TIMEOUT');
  if (config.maxInFlightBytes < config.bodyLimitBytes)
    problems.push('MAX_IN_FLIGHT_BYTES must not be less than BODY_LIMIT');
  const jwt = ['JWT_ISSUER', 'JWT_AUDIENCE', 'JWT_JWKS_URL'].map((variable) => Boolean(environment[variable]?.trim()));
  if (new Set(jwt).size > 1) problems.push('JWT_ISSUER, JWT_AUDIENCE and JWT_JWKS_URL require each other');
  // The default store must not get plants that are meant for another database.
  const isDatabaseSet = ['DATABASE_URL', 'DATABASE_URL_FILE'].some((variable) => environment[variable]?.trim());
  const typo = findTypos(environment).find((problem) => /mean DATABASE_URL(_FILE)?\?$/.test(problem));
  if (typo && !isDatabaseSet) problems.push(`${typo} If not, set DATABASE_URL`);
  if (problems.length > 0) throw new InvalidConfig(problems.join('\n'));
  return { ...config, database: config.databaseFromFile ?? config.database };
}

/** The environment variables of the settings. */
export const variables: readonly string[] = Object.values(settings).map(({ variable }) => variable);

/** Finds variables that differ from a setting in at most two characters. Short names resemble too many others. */
export function findTypos(environment: NodeJS.ProcessEnv): string[] {
  const candidates = variables.filter(({ length }) => length > 4);
  return Object.keys(environment).flatMap((name) => {
    const meant = candidates.find((variable) => leven(variable, name.toUpperCase()) <= 2);
    if (meant === undefined || variables.includes(name) || !environment[name]?.trim()) return [];
    return [`${name}: no such setting; did you mean ${meant}?`];
  });
}
