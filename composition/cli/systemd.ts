import { execFile } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Logger } from 'pino';

/** Pause between checks of the service, in milliseconds. */
const PAUSE_MS = 1000;

/** Tells systemd that startup is complete, once the service is ready. */
export async function notifySystemd(isReady: () => Promise<boolean>, log: Pick<Logger, 'warn'>): Promise<void> {
  while (!(await isReady())) await setTimeout(PAUSE_MS);
  await promisify(execFile)('systemd-notify', ['--ready']).catch((err) =>
    log.warn({ err }, 'systemd-notify failed, so systemd does not know that the service is ready'),
  );
}
