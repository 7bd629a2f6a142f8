import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type KnexStorage, openMysql } from '@plant-store/adapters/knex';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { connectTo } from '../support/database-servers.js';
import { Program } from '../support/executable.js';
import { toPlant } from '../support/plants.js';
import { waitUntil } from '../support/wait-until.js';
import { startCluster } from './cluster.js';

const plant = toPlant({ id: 1n, name: 'Monstera' });

describe('Storages on the servers of a Galera cluster', () => {
  const cluster = startCluster('galera.sh', ['mariadb-server', 'galera-4', 'rsync', 'strace']);

  /** Opens a database on a server, by its number. */
  const open = (database: string, server: number) => {
    const url = Object.assign(new URL(cluster.urls[server - 1] ?? ''), { pathname: database });
    return openMysql({ url: url.href, timeoutMs: 60_000 });
  };
  const close = (storages: readonly KnexStorage[]) => Promise.all(storages.map((storage) => storage.close()));

  it('migrate an empty database concurrently, fifty times', async () => {
    const databases = Array.from({ length: 50 }, (_, round) => `migration_${round}`);
    await cluster.run('create_databases', ...databases);
    for (const database of databases) await close(await Promise.all([1, 2, 3].map((server) => open(database, server))));
  });

  it('report a duplicate on the same server only after the server has synced the plant', async () => {
    await cluster.run('create_databases', 'duplicates');
    const storages = [await open('duplicates', 1), await open('duplicates', 1)];
    const SYNC_MS = 4000;
    const delay = `inject=fsync,fdatasync:delay_enter=${SYNC_MS * 1000}`;
    const pid = readFileSync(join(cluster.folder, 'tmp-1/pid'), 'utf8').trim();
    const strace = new Program(cluster.folder, ['strace', '-f', '-e', delay, '-o', '/dev/null', `--attach=${pid}`]);
    await strace.waitForOutput(/Process \d+ attached/);
    const endedAt: Record<string, number> = {};
    const add = async (storage: KnexStorage) => {
      const [outcome] = await storage.add([plant]);
      endedAt[outcome?.kind ?? ''] = performance.now();
    };
    await Promise.all(storages.map(add));
    expect(endedAt).to.have.all.keys('added', 'conflict');
    expect(endedAt['conflict']).to.be.above((endedAt['added'] ?? 0) - SYNC_MS / 2);
    await strace.kill('SIGKILL').exited();
    await close(storages);
  });

  it('read every plant acknowledged on another server, even if their own server lags', async () => {
    await cluster.run('create_databases', 'reading');
    const [near, far] = [await open('reading', 1), await open('reading', 2)];
    await far.ready();
    // Under this lock, a server applies no writes of the others.
    const knex = connectTo({ client: 'mysql2', url: cluster.urls[1] ?? '' });
    const lock = await knex.transaction();
    await lock.raw('SET SESSION wsrep_sync_wait = 0');
    await lock.raw('FLUSH TABLES WITH READ LOCK');
    expect(await near.add([plant])).to.deep.equal([{ kind: 'added' }]);
    let isRead = false;
    const reading = far.read(1n, 10).finally(() => {
      isRead = true;
    });
    await waitUntil('the read waits or has ended', async () => {
      const [rows] = await lock.raw('SHOW FULL PROCESSLIST');
      return isRead || rows.some(({ Info }: { Info: string | null }) => Info?.includes('from `plants`'));
    });
    await lock.raw('UNLOCK TABLES');
    await lock.rollback();
    await knex.destroy();
    expect(await reading).to.deep.equal([plant]);
    await close([near, far]);
  });
});
