import { execFile } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import type { Storage } from '../storages.js';

/** Pause between checks of the storage, in milliseconds. */
const PAUSE_MS = 1000;

/** Tells systemd that startup is complete, once the storage is ready. */
export async function notifySystemd(storage: Pick<Storage, 'ready'>, log: Pick<Logger, 'warn'>): Promise<void> {
  const isReady = async () => (await storage.ready().catch(() => false)) !== false;
  while (!(await isReady())) await setTimeout(PAUSE_MS);
  try {
    await promisify(execFile)('systemd-notify', ['--ready']);
  } catch (err) {
    log.warn({ err }, 'systemd-notify failed, so systemd does not know that the service is ready');
  }
}
