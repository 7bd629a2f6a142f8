import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { inRepository } from '../../support/paths.js';

const FOLDER = inRepository('test/bench/peers');
const LOCK = `${FOLDER}/package-lock.json`;
/** Copy of the lock file as installed. */
const INSTALLED = `${FOLDER}/node_modules/.installed-lock.json`;

/** Installs the packages of the peers if they are missing or outdated. */
export function installPeers(say: (text: string) => void): void {
  if (existsSync(INSTALLED) && readFileSync(INSTALLED).equals(readFileSync(LOCK))) return;
  say('running npm ci in test/bench/peers; compiling two packages takes minutes');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: FOLDER, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('npm ci in test/bench/peers failed');
  copyFileSync(LOCK, INSTALLED);
}
