import type { ReadinessCheck } from '@plant-store/adapters/management';
import type { Logger } from 'pino';
import { describeError } from './describe-error.js';

/** Returns a check that also logs its first failure, and each with another cause than the one before. */
export function logCauses(readiness: ReadinessCheck, log: Pick<Logger, 'warn'>): ReadinessCheck {
  let lastCause: string | undefined;
  return {
    name: readiness.name,
    async check() {
      try {
        await readiness.check();
        lastCause = undefined;
      } catch (err) {
        const cause = JSON.stringify(describeError(err, false));
        if (cause !== lastCause) log.warn({ check: readiness.name, err }, 'not ready');
        lastCause = cause;
        throw err;
      }
    },
  };
}
