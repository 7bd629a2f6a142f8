import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { inRepository } from '../../support/paths.js';

const FOLDER = inRepository('test/bench/peers');
const LOCK = `${FOLDER}/package-lock.json`;
/** The lock file that was installed. */
const INSTALLED = `${FOLDER}/node_modules/.installed-lock.json`;

/** Installs what the peers need, where it is missing or not what their lock file says. */
export function installPeers(say: (text: string) => void): void {
  if (existsSync(INSTALLED) && readFileSync(INSTALLED).equals(readFileSync(LOCK))) return;
  say('installing what the peers need, in test/bench/peers: npm ci (two of them are compiled, which takes minutes)');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: FOLDER, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('npm ci in test/bench/peers failed');
  copyFileSync(LOCK, INSTALLED);
}
