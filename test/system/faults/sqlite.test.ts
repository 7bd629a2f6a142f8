import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { serve } from '../../support/client.js';
import { sqliteStore } from '../../support/engines.js';
import type { Program } from '../../support/executable.js';
import { skipUnless, skipUnlessInstalled } from '../../support/skip-unless.js';
import { SqliteFile } from '../../support/sqlite-file.js';
import { temporaryFolder } from '../../support/temporary.js';
import { Disk } from './disk.js';
import { expectRecovery, type Fault } from './fault.js';

describe('Under load, a service on SQLite loses nothing and recovers if', () => {
  const disk = new Disk();
  const path = join(disk.path, 'plants.db');
  beforeEach(function () {
    skipUnlessInstalled(this, 'strace', '-o', '/dev/null', 'true');
    disk.mount(this, 16);
  });

  let other: SqliteFile;
  async function lock(): Promise<void> {
    other = await SqliteFile.open(path);
    await other.exec('PRAGMA busy_timeout = 60000; BEGIN EXCLUSIVE');
  }
  async function lockForAMoment(): Promise<void> {
    await lock();
    await setTimeout(100);
    await other.close();
  }

  let strace: ChildProcess;
  /** Makes every third call fail that sets or releases a lock, so that SQLite keeps a lock that it has released. */
  function breakLocks(service: Program): void {
    const inject = ['-e', 'trace=fcntl', '-e', 'inject=fcntl:error=EIO:when=3+3'];
    strace = spawn('strace', ['-f', '-p', `${service.process.pid}`, ...inject, '-o', '/dev/null']);
  }

  const faults: Readonly<Record<string, Fault>> = {
    'another program locks the file for a moment': { creates: 'succeed', inject: lockForAMoment },
    'another program locks the file': { creates: 'fail', inject: lock, heal: () => other.close() },
    'the system cannot release a lock': { creates: 'fail', inject: breakLocks, heal: () => strace.kill() },
    'the disk is full': { creates: 'fail', inject: () => disk.fill(), heal: () => disk.free() },
  };
  for (const [title, fault] of Object.entries(faults))
    it(title, () => expectRecovery(fault, disk.path, sqliteStore(path)));
});

describe('A service on SQLite does not start, and prints the reason in one line,', () => {
  const disk = new Disk();
  const folder = temporaryFolder();
  const file = (name: string) => join(folder, name);

  it('if its disk is full', async function () {
    disk.mount(this, 16);
    disk.fill();
    const { exitCode, stderr } = await serve(disk.path).result();
    expect(exitCode).to.equal(1);
    expect(stderr).to.match(/^plant-store: DATABASE_URL: cannot open sqlite:.*plants\.db: .*full\n$/);
  });

  it('if its file is a mount point, whose newest plants are elsewhere', async function () {
    skipUnless(this, spawnSync('unshare', ['--mount', 'true']).status === 0, 'the privileges of root');
    const name = 'plants and\\pots.db';
    for (const each of ['host.db', name]) writeFileSync(file(each), '');
    const mount = ['unshare', '--mount', 'sh', '-c', 'mount --bind host.db "$0"; exec "$@"', name];
    const { exitCode, stderr } = await serve(folder, { DATABASE_URL: `sqlite:${name}` }, mount).result();
    const reason = 'the file itself is mounted, so the newest plants would be lost; mount the folder';
    expect(stderr).to.equal(`plant-store: DATABASE_URL: cannot open sqlite:${file(name)}: ${reason}\n`);
    expect(exitCode).to.equal(1);
  });

  it('if its user lacks a permission, which names the uid', async function () {
    skipUnlessInstalled(this, 'setpriv', '--version');
    // Root without the capabilities to ignore permissions.
    const wrapper = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
    writeFileSync(file('plants.db'), '');
    for (const [path, mode, database, reason] of [
      ['plants.db', 0o400, 'plants.db', '…/plants.db is not writable (EACCES)'],
      ['plants.db', 0o200, 'plants.db', '…/plants.db is not readable (EACCES)'],
      ['', 0o500, 'new.db', '… is not writable (EACCES)'],
    ] as const) {
      chmodSync(file(path), mode);
      const { stderr } = await serve(folder, { DATABASE_URL: `sqlite:${database}` }, wrapper).result();
      const prefix = `plant-store: DATABASE_URL: cannot open sqlite:…/${database}`;
      expect(stderr.replaceAll(folder, '…')).to.equal(`${prefix}: ${reason} for uid ${process.getuid?.()}\n`);
    }
    chmodSync(folder, 0o700);
  });
});
