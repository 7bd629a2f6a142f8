import type { ReadinessCheck } from '@plant-store/adapters/management';
import type { Logger } from 'pino';
import { describeError } from './describe-error.js';

/** Returns a check that also logs each cause of its failures, once until it succeeds again. */
export function logCauses(readiness: ReadinessCheck, log: Pick<Logger, 'warn'>): ReadinessCheck {
  const logged = new Set<string>();
  return {
    name: readiness.name,
    async check() {
      try {
        await readiness.check();
        logged.clear();
      } catch (err) {
        const cause = JSON.stringify(describeError(err, false));
        if (!logged.has(cause)) log.warn({ check: readiness.name, err }, 'not ready');
        logged.add(cause);
        throw err;
      }
    },
  };
}
