import { expect } from 'chai';
import type { Knex } from 'knex';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import { openRepository, postgresDatabase } from '../../adapters/driven/knex/index.js';
import { StorageUnavailable } from '../../core/index.js';
import { catchError } from '../support/catch-error.js';
import { Program, plantStore } from '../support/executable.js';
import { toPlant } from '../support/plants.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';
import { PrivateServer, postgresStandby, privateServers } from './private-server.js';

const TIMEOUT_MS = 20_000;

/** Selects connections that wait for a standby (https://www.postgresql.org/docs/current/monitoring-stats.html). */
const WAITS_FOR_STANDBY = "wait_event = 'SyncRep' AND backend_type = 'client backend'";

describe('PostgreSQL with a standby', () => {
  const folder = temporaryFolder();
  let server: PrivateServer;
  let admin: Knex;
  let repository: Awaited<ReturnType<typeof open>>;

  /** Opens a repository whose connections have a setting, such as `synchronous_commit=local`. */
  function open(setting?: string) {
    const url = new URL(server.server.url);
    if (setting) url.searchParams.set('options', `-c ${setting}`);
    return openRepository(postgresDatabase({ url: url.href, timeoutMs: TIMEOUT_MS }));
  }
  async function warningOf(setting: string): Promise<string | undefined> {
    const opened = await open(setting);
    await opened.close();
    return opened.warning;
  }
  async function expectReadable(url: string): Promise<void> {
    const run = (command: string) => plantStore(folder, [command], { DATABASE_URL: url, LOG_LEVEL: 'warn' }).result();
    expect(await run('export')).to.deep.equal({ exitCode: 0, stdout: '{"id":1,"name":"Monstera"}\n', stderr: '' });
    expect(await run('check')).to.include({ exitCode: 0 });
  }
  const plant = toPlant({ id: 1n, name: 'Monstera' });

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
  async function requireStandby(name: 'standby' | ''): Promise<void> {
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
  /** Stores the plant on the primary only: the server crashes while the commit waits for the standby. */
  async function storeOnPrimaryOnly(): Promise<void> {
    await requireStandby('standby');
    const adding = catchError(repository.add([plant]));
    await waitForBlockedCommit();
    await admin.destroy();
    await server.kill();
    expect(await adding).to.be.instanceOf(StorageUnavailable);
    await server.start();
    admin = server.connect();
  }

  for (const name of [plant.name, 'another plant']) {
    it(`adding ${name} throws StorageUnavailable while a plant with its id is on the primary only`, async () => {
      await storeOnPrimaryOnly();
      const adding = catchError(repository.add([toPlant({ id: plant.id, name })]));
      await waitForBlockedCommit('pg_cancel_backend');
      expect(await adding).to.be.instanceOf(StorageUnavailable);
    });
  }

  for (const end of ['pg_cancel_backend', 'pg_terminate_backend'] as const) {
    it(`a plant whose commit is interrupted by ${end} is not reported as added`, async () => {
      await requireStandby('standby');
      const adding = catchError(repository.add([plant]));
      await waitForBlockedCommit(end);
      expect(await adding).to.be.instanceOf(StorageUnavailable);
    });
  }

  it('a migrated database can be opened, exported and checked while the standby is down', async () => {
    await repository.add([plant]);
    await requireStandby('standby');
    await (await open()).close();
    await expectReadable(server.server.url);
  });

  it('a hot standby can be exported and checked, and its repository is ready once it is promoted', async () => {
    await repository.add([plant]);
    const standby = await PrivateServer.install(postgresStandby(server.server.url, 'standby'), folder);
    await standby.start();
    const { url } = standby.server;
    await expectReadable(url);

    const onStandby = await openRepository(postgresDatabase({ url, timeoutMs: TIMEOUT_MS }));
    const other = toPlant({ id: 2n, name: 'Ficus' });
    expect(await catchError(onStandby.add([other]))).to.be.instanceOf(StorageUnavailable);
    expect(await catchError(onStandby.ready())).to.be.instanceOf(Error);
    const adminOfStandby = standby.connect();
    await adminOfStandby.raw('SELECT pg_promote()').finally(() => adminOfStandby.destroy());
    await onStandby.ready();
    expect(await onStandby.add([other])).to.deep.equal([{ kind: 'added' }]);
    await onStandby.close();
  });

  for (const value of ['local', 'remote_write'] as const) {
    it(`the repository warns about synchronous_commit=${value} if a standby is configured`, async function () {
      skipUnlessInstalled(this, 'pg_receivewal', '--version');
      expect(await warningOf(`synchronous_commit=${value}`)).to.equal(undefined);
      // pg_receivewal syncs the log as a standby does.
      const receiver = `${server.server.url}?application_name=standby`;
      new Program(folder, ['pg_receivewal', '--synchronous', '-D', folder, '-d', receiver]);
      await requireStandby('standby');
      expect(await warningOf(`synchronous_commit=${value}`)).to.include(`synchronous_commit=${value}`);
    });
  }

  it('the repository warns about client_min_messages=error even if no standby is configured', async () => {
    expect(await warningOf('client_min_messages=error')).to.include('client_min_messages=error');
  });
});
