import { type KnexStorage, openPostgres } from '@plant-store/adapters/knex';
import { StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import { catchError } from '../support/catch-error.js';
import { serve } from '../support/client.js';
import { plantStore } from '../support/executable.js';
import { toPlant } from '../support/plants.js';
import { temporaryFolder } from '../support/temporary.js';
import { PrivateServer, postgresStandby, privateServers, WAITING } from './private-server.js';

describe('PostgreSQL with a standby', () => {
  const folder = temporaryFolder();
  let server: PrivateServer;
  let admin: Knex;
  let repository: KnexStorage;
  const plant = toPlant({ id: 1n, name: 'Monstera' });

  const open = (url = server.url, timeoutMs = 20_000) => openPostgres({ url, timeoutMs });
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
    await server.waitForRow(`SELECT WHERE current_setting('synchronous_standby_names') = '${name}'`);
    // Commits wait only once the checkpointer has read the setting, which it does before a checkpoint.
    await admin.raw('CHECKPOINT');
  }
  /** Adds a plant, and expects that cancelling the wait for the standby makes it fail. */
  async function expectUnavailable(id: bigint, name: string): Promise<void> {
    const adding = catchError(repository.add([toPlant({ id, name })]));
    await server.waitForRow(`SELECT pg_cancel_backend(pid) ${WAITING}`);
    expect(await adding).to.be.instanceOf(StorageUnavailable);
  }

  it('a plant that another session committed without a sync is durable once it is reported as stored', async () => {
    await admin.raw("ALTER SYSTEM SET wal_writer_delay = '10s'");
    await admin.raw('SELECT pg_reload_conf()');
    await server.waitForRow("SELECT WHERE current_setting('wal_writer_delay') = '10s'");
    await admin.raw('SET synchronous_commit = off');
    await admin('plants').insert({ id: 1, name: plant.name });
    expect(await repository.add([plant])).to.have.nested.property('[0].kind', 'conflict');
    await admin.destroy();
    await server.kill();
    await server.start();
    admin = server.connect();
    expect(await admin('plants').pluck('name')).to.deep.equal([plant.name]);
  });

  it('a plant that only the primary has is neither added nor a conflict, nor is its id, if the wait is cancelled', async () => {
    await requireStandby('down');
    await expectUnavailable(2n, 'Ficus');
    const adding = catchError(repository.add([plant]));
    await server.waitForRow(`SELECT ${WAITING}`);
    await admin.destroy();
    await server.kill();
    expect(await adding).to.be.instanceOf(StorageUnavailable);
    // After a crash, the plant is visible.
    await server.start();
    admin = server.connect();
    for (const name of ['Monstera', 'another plant']) await expectUnavailable(1n, name);
    // A service can start meanwhile.
    await (await open()).close();
  });

  it('a write that waits for too long is cancelled, and the repository is ready once a write is committed', async () => {
    const impatient = await open(server.url, 1000);
    await requireStandby('down');
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await catchError(impatient.add([plant]))).to.be.instanceOf(StorageUnavailable);
      expect(await catchError(impatient.ready())).to.be.instanceOf(StorageUnavailable);
    }
    await server.waitForRow(`SELECT WHERE NOT EXISTS (SELECT ${WAITING})`);
    await requireStandby('');
    await impatient.ready();
    expect(await impatient.add([plant])).to.have.nested.property('[0].kind', 'conflict');
    await impatient.close();
  });

  it('a hot standby can be exported and checked, and its repository is ready once it is promoted', async () => {
    await repository.add([plant]);
    const standby = await PrivateServer.install(postgresStandby(server.url, 'standby'), folder);
    await standby.start();
    const run = (command: string) => plantStore(folder, [command], { DATABASE_URL: standby.url }).result();
    expect(await run('export')).to.include({ exitCode: 0, stdout: '{"id":1,"name":"Monstera"}\n' });
    expect(await run('check')).to.include({ exitCode: 0 });

    const onStandby = await open(standby.url);
    const other = toPlant({ id: 2n, name: 'Ficus' });
    expect(await catchError(onStandby.add([other]))).to.be.instanceOf(StorageUnavailable);
    expect(await catchError(onStandby.ready())).to.be.instanceOf(Error);
    await standby.promote();
    await onStandby.ready();
    expect(await onStandby.add([other])).to.deep.equal([{ kind: 'added' }]);
    await onStandby.close();
    await standby.kill();
  });

  it('the service warns at startup about settings that do not wait for the standby', async () => {
    // With local, the migrations would wait for nothing, so the standby may be down.
    await requireStandby('down');
    for (const setting of ['synchronous_commit=local', 'client_min_messages=error']) {
      const DATABASE_URL = `${server.url}?options=-c%20${setting}`;
      await serve(folder, { DATABASE_URL }).waitForOutput(RegExp(`"warn".*before they are durable.*${setting}`));
    }
  });
});
