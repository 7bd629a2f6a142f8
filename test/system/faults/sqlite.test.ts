import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { create, readiness, serve } from '../../support/client.js';
import { sqliteStore } from '../../support/engines.js';
import { skipUnless, skipUnlessInstalled } from '../../support/skip-unless.js';
import { SqliteFile } from '../../support/sqlite-file.js';
import { Disk } from './disk.js';
import { expectRecovery, type Fault, settingsFor, waitForReadiness } from './fault.js';

describe('Under load, a service on SQLite loses nothing and recovers', () => {
  const disk = new Disk();
  const path = join(disk.path, 'plants.db');
  let other: SqliteFile;
  beforeEach(function () {
    disk.mountTmpfs(this, 16);
  });

  async function lock(): Promise<void> {
    other = await SqliteFile.open(path);
    await other.exec('PRAGMA busy_timeout = 60000; BEGIN EXCLUSIVE');
  }
  async function unlock(): Promise<void> {
    await other.exec('ROLLBACK');
    await other.close();
  }

  const rows: readonly Fault[] = [
    {
      ...{ what: 'another program locks the file for a while', creates: 'succeed' },
      inject: async () => {
        await lock();
        await setTimeout(100);
        await unlock();
      },
    },
    { what: 'another program locks the file', creates: 'fail', inject: lock, heal: unlock },
    ...[0, 1, 2].map(
      (round): Fault => ({
        what: `the disk is full (round ${round + 1})`,
        creates: 'fail',
        inject: () => disk.fill(Math.floor(Math.random() * round * 100 * 1024)),
        heal: () => disk.free(),
      }),
    ),
  ];
  for (const fault of rows) {
    it(`when ${fault.what}; creates ${fault.creates}`, () =>
      expectRecovery(serve(disk.path, settingsFor(fault)), sqliteStore(path), fault));
  }

  it('does not start while the disk is full, and reports the reason in one line', async () => {
    disk.fill(0);
    const { exitCode, stderr } = await serve(disk.path).result();
    expect(exitCode).to.equal(1);
    expect(stderr).to.match(/^plant-store: cannot open sqlite:.*plants\.db: .*full\n$/);
  });
});

describe('When an error remounts the file system read-only, a service on SQLite', () => {
  const disk = new Disk();

  it('rejects creates and is not ready, and no probe stores a plant', async function () {
    skipUnlessInstalled(this, 'mkfs.ext4', '-V');
    const image = `${disk.path}.image`;
    spawnSync('truncate', ['--size=40M', image]);
    spawnSync('mkfs.ext4', ['-q', image]);
    skipUnless(this, disk.mount('-o', 'loop', image), 'permission to mount an image');
    const service = serve(disk.path, { MANAGEMENT_PORT: '0' });
    const [port, managementPort] = [await service.port(), await service.managementPort()];
    expect((await create(port, { id: 1n, name: 'Monstera' }))?.outcome).to.equal(200);
    await waitForReadiness(managementPort, '200 ok');
    expect(disk.mount('-o', 'remount,abort')).to.equal(true);
    expect((await create(port, { id: 2n, name: 'Ficus' }))?.outcome).to.equal(50301);
    for (let time = 0; time < 3; time++) expect(await readiness(managementPort)).to.equal('503 unavailable');
    const stored = await sqliteStore(join(disk.path, 'plants.db')).readPlants();
    expect(stored).to.deep.equal([{ id: 1n, name: 'Monstera' }]);
  });
});
