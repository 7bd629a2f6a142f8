import { readConfig } from '../../composition/config.js';
import { InvalidConfig } from '../../composition/files.js';

/** Returns the problems of settings, if there are any. */
export function problemsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof InvalidConfig) return error.message.split('\n');
    throw error;
  }
  return [];
}
