import { expect } from 'chai';
import type { Knex } from 'knex';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import { openRepository, postgresDatabase } from '../../adapters/driven/knex/index.js';
import { StorageUnavailable } from '../../core/index.js';
import { catchError } from '../support/catch-error.js';
import { serve } from '../support/client.js';
import { plantStore } from '../support/executable.js';
import { toPlant } from '../support/plants.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';
import { PrivateServer, postgresStandby, privateServers } from './private-server.js';

/** Selects connections that wait for a standby (https://www.postgresql.org/docs/current/monitoring-stats.html). */
const WAITS_FOR_STANDBY = "wait_event = 'SyncRep' AND backend_type = 'client backend'";

describe('PostgreSQL with a standby', () => {
  const folder = temporaryFolder();
  let server: PrivateServer;
  let admin: Knex;
  let repository: Awaited<ReturnType<typeof open>>;
  const plant = toPlant({ id: 1n, name: 'Monstera' });

  const open = (url = server.server.url) => openRepository(postgresDatabase({ url, timeoutMs: 20_000 }));
  async function expectReadable(url: string): Promise<void> {
    const run = (command: string) => plantStore(folder, [command], { DATABASE_URL: url, LOG_LEVEL: 'warn' }).result();
    expect(await run('export')).to.deep.equal({ exitCode: 0, stdout: '{"id":1,"name":"Monstera"}\n', stderr: '' });
    expect(await run('check')).to.include({ exitCode: 0 });
  }

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
    await requireStandby('');
    await repository.close();
    await admin.destroy();
    await server.kill();
  });

  /** Makes every commit wait for the standby with this name; an empty name disables waiting. */
  async function requireStandby(name: 'down' | ''): Promise<void> {
    await admin.raw(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
    await admin.raw('SELECT pg_reload_conf()');
    await waitUntil('the setting is in effect', async () => {
      const { rows } = await admin.raw('SHOW synchronous_standby_names');
      return rows[0].synchronous_standby_names === name;
    });
  }
  /** Waits until a connection waits for the standby; `action` of it is a function of PostgreSQL. */
  async function waitForBlockedCommit(action = ''): Promise<void> {
    await waitUntil('a connection waits for the standby', async () => {
      const { rows } = await admin.raw(`SELECT ${action}(pid) FROM pg_stat_activity WHERE ${WAITS_FOR_STANDBY}`);
      return rows.length > 0;
    });
  }
  /** Adds a plant, and expects that cancelling the wait for the standby makes it fail. */
  async function expectUnavailable(name: string): Promise<void> {
    const adding = catchError(repository.add([toPlant({ id: plant.id, name })]));
    await waitForBlockedCommit('pg_cancel_backend');
    expect(await adding).to.be.instanceOf(StorageUnavailable);
  }

  it('a plant whose wait is cancelled is not added', async () => {
    await requireStandby('down');
    await expectUnavailable(plant.name);
  });

  it('neither the plant nor its id is reported as taken while the plant is on the primary only', async () => {
    await requireStandby('down');
    const adding = catchError(repository.add([plant]));
    await waitForBlockedCommit();
    await admin.destroy();
    await server.kill();
    expect(await adding).to.be.instanceOf(StorageUnavailable);
    // After a crash, the plant is visible.
    await server.start();
    admin = server.connect();
    for (const name of [plant.name, 'another plant']) await expectUnavailable(name);
  });

  it('a migrated database can be opened, exported and checked while the standby is down', async () => {
    await repository.add([plant]);
    await requireStandby('down');
    await (await open()).close();
    await expectReadable(server.server.url);
  });

  it('a hot standby can be exported and checked, and its repository is ready once it is promoted', async () => {
    await repository.add([plant]);
    const standby = await PrivateServer.install(postgresStandby(server.server.url, 'standby'), folder);
    await standby.start();
    const { url } = standby.server;
    await expectReadable(url);

    const onStandby = await open(url);
    const other = toPlant({ id: 2n, name: 'Ficus' });
    expect(await catchError(onStandby.add([other]))).to.be.instanceOf(StorageUnavailable);
    expect(await catchError(onStandby.ready())).to.be.instanceOf(Error);
    const adminOfStandby = standby.connect();
    await adminOfStandby.raw('SELECT pg_promote()').finally(() => adminOfStandby.destroy());
    await onStandby.ready();
    expect(await onStandby.add([other])).to.deep.equal([{ kind: 'added' }]);
    await onStandby.close();
    await standby.kill();
  });

  it('the service warns at startup about settings that do not wait for the standby', async () => {
    // With local, the migrations would wait for nothing, so the standby may be down.
    await requireStandby('down');
    for (const setting of ['synchronous_commit=local', 'client_min_messages=error']) {
      const DATABASE_URL = `${server.server.url}?options=-c%20${setting}`;
      await serve(folder, { DATABASE_URL }).waitForOutput(RegExp(`"warn".*before they are durable.*${setting}`));
    }
  });
});
