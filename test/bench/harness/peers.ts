import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { inRepository } from './paths.js';

const FOLDER = inRepository('test/bench/peers');

/** Installs what the peers need, where it is missing or older than their lock file. */
export function installPeers(say: (text: string) => void): void {
  const installed = `${FOLDER}/node_modules/.package-lock.json`;
  const isThere =
    existsSync(installed) && statSync(installed).mtimeMs >= statSync(`${FOLDER}/package-lock.json`).mtimeMs;
  if (isThere) return;
  say('installing what the peers need, in test/bench/peers: npm ci (two of them are compiled, which takes minutes)');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: FOLDER, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('npm ci in test/bench/peers failed');
}
