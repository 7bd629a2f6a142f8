import { join } from 'node:path';
import { type KnexStorage, openPostgres } from '@plant-store/adapters/knex';
import { StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import { catchError } from '../support/catch-error.js';
import { plantStore } from '../support/executable.js';
import { toPlant } from '../support/plants.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';
import { PrivateServer, privateServers } from './private-server.js';

const PLANT = toPlant({ id: 1n, name: 'Monstera' });
/** Selects connections that wait for a standby (https://www.postgresql.org/docs/current/monitoring-stats.html). */
const WAITING = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND backend_type = 'client backend'";

describe('PostgreSQL with a standby', () => {
  const folder = temporaryFolder();
  let server: PrivateServer;
  let admin: Knex;
  let repository: KnexStorage;

  const open = (url = server.url, timeoutMs = 20_000) => openPostgres({ url, timeoutMs });
  const waitForRow = (query: string) => waitUntil(query, async () => (await admin.raw(query)).rows.length > 0);
  const restart = async () => {
    await server.kill();
    await server.start();
  };
  const set = async (setting: string, value: string) => {
    await admin.raw(`ALTER SYSTEM SET ${setting} = '${value}'`);
    await admin.raw('SELECT pg_reload_conf()');
    await waitForRow(`SELECT WHERE current_setting('${setting}') = '${value}'`);
    // Commits wait for a standby only once the checkpointer knows its name, which it reads before a checkpoint.
    await admin.raw('CHECKPOINT');
  };
  before(async function () {
    PrivateServer.skipUnlessAvailable(this, privateServers.postgres);
    server = await PrivateServer.install(privateServers.postgres, folder);
  });
  beforeEach(async () => {
    await server.start();
    admin = server.connect();
    repository = await open();
    await admin('plants').delete();
  });
  afterEach(async () => {
    await set('synchronous_standby_names', '');
    await repository.close();
    await admin.destroy();
    await server.kill();
  });

  it('a plant that another session committed without a sync is durable once it is reported as stored', async () => {
    await set('wal_writer_delay', '10s');
    await admin.raw('SET synchronous_commit = off');
    await admin('plants').insert({ id: 1, name: PLANT.name });
    expect(await repository.add([PLANT])).to.have.nested.property('[0].kind', 'conflict');
    await restart();
    expect(await admin('plants').pluck('name')).to.deep.equal([PLANT.name]);
  });

  it('a plant that only the primary has is neither added nor a conflict, nor is its id, if the wait is cancelled', async () => {
    const expectUnavailable = async (id: bigint, name: string) => {
      const adding = catchError(repository.add([toPlant({ id, name })]));
      await waitForRow(`SELECT pg_cancel_backend(pid) ${WAITING}`);
      expect(await adding).to.be.instanceOf(StorageUnavailable);
    };
    await set('synchronous_standby_names', 'down');
    await expectUnavailable(2n, 'Ficus');
    const adding = catchError(repository.add([PLANT]));
    await waitForRow(`SELECT ${WAITING}`);
    await restart();
    expect(await adding).to.be.instanceOf(StorageUnavailable);
    // After the crash, the plant is visible.
    for (const name of [PLANT.name, 'another plant']) await expectUnavailable(1n, name);
    // A service can start meanwhile, and warns about a setting that does not wait for the standby.
    const local = await open(`${server.url}?options=-c%20synchronous_commit=local`);
    expect(local.warnings.join()).to.match(/may lose them: synchronous_commit=local$/);
    await local.close();
  });

  it('a write that waits for too long is cancelled, and the repository is ready once a write is committed', async () => {
    const impatient = await open(server.url, 1000);
    await set('synchronous_standby_names', 'down');
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await catchError(impatient.add([PLANT]))).to.be.instanceOf(StorageUnavailable);
      expect(await catchError(impatient.ready())).to.be.instanceOf(StorageUnavailable);
    }
    await waitForRow(`SELECT WHERE NOT EXISTS (SELECT ${WAITING})`);
    await set('synchronous_standby_names', '');
    await impatient.ready();
    expect(await impatient.add([PLANT])).to.have.nested.property('[0].kind', 'conflict');
    await impatient.close();
  });

  it('a hot standby can be exported, and creates no plant', async () => {
    await repository.add([PLANT]);
    const options = [`--dbname=${server.url}`, '--checkpoint=fast', '--no-sync', '--write-recovery-conf'];
    const install = (own: string) => ['pg_basebackup', `--pgdata=${join(own, 'data')}`, ...options];
    const standby = await PrivateServer.install({ ...privateServers.postgres, install }, folder);
    await standby.start();
    const { stdout } = await plantStore(folder, ['export'], { DATABASE_URL: standby.url }).result();
    expect(stdout).to.equal('{"id":1,"name":"Monstera"}\n');
    const onStandby = await open(standby.url);
    expect(await catchError(onStandby.add([PLANT]))).to.be.instanceOf(StorageUnavailable);
    expect(await catchError(onStandby.ready())).to.be.instanceOf(Error);
    await onStandby.close();
    await standby.kill();
  });
});
