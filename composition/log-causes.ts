import type { ReadinessCheck } from '@plant-store/adapters/management';
import type { Logger } from 'pino';
import { describeError } from './describe-error.js';

/** Returns a check that also logs its first failure, each with another cause than the one before, and its recovery. */
export function logCauses(readiness: ReadinessCheck, log: Pick<Logger, 'info' | 'warn'>): ReadinessCheck {
  let lastCause: string | undefined;
  return {
    name: readiness.name,
    async check() {
      try {
        await readiness.check();
        if (lastCause) log.info({ check: readiness.name }, 'ready again');
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
