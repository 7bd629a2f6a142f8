import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { serve } from '../../support/client.js';
import { sqliteStore } from '../../support/engines.js';
import { SqliteFile } from '../../support/sqlite-file.js';
import { Disk } from './disk.js';
import { expectRecovery, type Fault, settingsFor } from './fault.js';

describe('Under load, a service on SQLite loses nothing and recovers if', () => {
  const disk = new Disk();
  const path = join(disk.path, 'plants.db');
  let other: SqliteFile;
  beforeEach(function () {
    disk.mount(this, 16);
  });

  async function lock(): Promise<void> {
    other = await SqliteFile.open(path);
    await other.exec('PRAGMA busy_timeout = 60000; BEGIN EXCLUSIVE');
  }
  async function unlock(): Promise<void> {
    await other.exec('ROLLBACK');
    await other.close();
  }

  const faults: readonly Fault[] = [
    {
      title: 'another program locks the file for a moment',
      creates: 'succeed',
      inject: async () => {
        await lock();
        await setTimeout(100);
        await unlock();
      },
    },
    { title: 'another program locks the file', creates: 'fail', inject: lock, heal: unlock },
    { title: 'the disk is full', creates: 'fail', inject: () => disk.fill(), heal: () => disk.free() },
  ];
  for (const fault of faults) {
    it(fault.title, () => expectRecovery(serve(disk.path, settingsFor(fault)), sqliteStore(path), fault));
  }
});

describe('A service on SQLite', () => {
  const disk = new Disk();

  it('does not start on a full disk, and prints the reason in one line', async function () {
    disk.mount(this, 16);
    disk.fill();
    const { exitCode, stderr } = await serve(disk.path).result();
    expect(exitCode).to.equal(1);
    expect(stderr).to.match(/^plant-store: DATABASE_URL: cannot open sqlite:.*plants\.db: .*full\n$/);
  });
});
