import { expect } from 'chai';
import type { Knex } from 'knex';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import { openRepository, postgresDatabase } from '../../adapters/knex/index.js';
import { type Plant, type PlantRepository, StorageUnavailable } from '../../core/index.js';
import { catchError } from '../support/catch-error.js';
import { Executable, endProgramsAfterEach, Program } from '../support/executable.js';
import { toPlant } from '../support/plants.js';
import { PrivateServer, privateServers } from '../support/private-server.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';

const TIMEOUT_MS = 20_000;

/** Selects connections that wait for a standby (https://www.postgresql.org/docs/current/monitoring-stats.html). */
const WAITS_FOR_STANDBY = "wait_event = 'SyncRep' AND backend_type = 'client backend'";

describe('PostgreSQL with synchronous replication', () => {
  const folder = temporaryFolder();
  let server: PrivateServer;
  let admin: Knex;
  let repository: PlantRepository;
  let ids = 0n;

  const open = () => openRepository(postgresDatabase({ url: server.server.url, timeoutMs: TIMEOUT_MS }));
  const newPlant = () => {
    ids++;
    return toPlant({ id: ids, name: `plant ${ids}` });
  };

  before(async function () {
    PrivateServer.skipUnlessAvailable(this, privateServers.postgres);
    server = await PrivateServer.install(privateServers.postgres, folder);
  });
  beforeEach(async () => {
    await server.start();
    admin = server.connect();
    repository = await open();
  });
  afterEach(async () => {
    await requireStandby('');
    await repository.close();
    await admin.destroy();
    await server.kill();
  });
  endProgramsAfterEach();

  /** Makes every commit wait for the standby with this name; an empty name disables waiting. */
  async function requireStandby(name: 'standby' | ''): Promise<void> {
    await admin.raw(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
    await admin.raw('SELECT pg_reload_conf()');
    await waitUntil('the setting is in effect', async () => (await standbyNames()) === name);
  }
  async function standbyNames(): Promise<string> {
    return (await admin.raw('SHOW synchronous_standby_names')).rows[0].synchronous_standby_names;
  }

  /** Waits until a connection waits for the standby. */
  function waitForBlockedCommit(): Promise<void> {
    return waitUntil('a connection waits for the standby', async () => {
      const { rows } = await admin.raw(`SELECT pid FROM pg_stat_activity WHERE ${WAITS_FOR_STANDBY}`);
      return rows.length > 0;
    });
  }

  /** Stores a plant on the primary only: the server crashes while the commit waits for the standby. */
  async function storeOnPrimaryOnly(plant: Plant): Promise<void> {
    await requireStandby('standby');
    const adding = catchError(repository.add([plant]));
    await waitForBlockedCommit();
    await admin.destroy();
    await server.kill();
    expect(await adding).to.be.instanceOf(StorageUnavailable);
    await server.start();
    admin = server.connect();
  }

  it('a plant on the primary alone is not reported as stored while PostgreSQL waits for the standby', async () => {
    const plant = newPlant();
    await storeOnPrimaryOnly(plant);
    let hasResponse = false;
    const again = repository.add([plant]).finally(() => {
      hasResponse = true;
    });
    await Promise.race([again, waitForBlockedCommit()]);
    expect(hasResponse).to.equal(false);
    await requireStandby('');
    expect(await again).to.deep.equal([{ kind: 'taken', holder: plant }]);
  });

  it('a conflict with a plant on the primary alone is not reported', async () => {
    const plant = newPlant();
    await storeOnPrimaryOnly(plant);
    const other = toPlant({ id: plant.id, name: 'another plant' });
    const adding = catchError(repository.add([other]));
    await waitForBlockedCommit();
    await endCommit('cancel');
    expect(await adding).to.be.instanceOf(StorageUnavailable);
  });

  for (const how of ['cancel', 'terminate'] as const) {
    it(`a plant whose commit is interrupted by pg_${how}_backend is not reported as added`, async () => {
      await requireStandby('standby');
      const plant = newPlant();
      const adding = catchError(repository.add([plant]));
      await waitForBlockedCommit();
      await endCommit(how);
      expect(await adding).to.be.instanceOf(StorageUnavailable);
    });
  }
  async function endCommit(how: 'cancel' | 'terminate'): Promise<void> {
    await admin.raw(`SELECT pg_${how}_backend(pid) FROM pg_stat_activity WHERE ${WAITS_FOR_STANDBY}`);
  }

  it('export and migrate --dry-run work while the standby is down', async () => {
    const plant = newPlant();
    await repository.add([plant]);
    await requireStandby('standby');
    const run = async (...args: string[]) => {
      const program = new Executable(folder, args, { DATABASE_URL: server.server.url, STORAGE_TIMEOUT: '5s' });
      return [await program.exited(), program.stdout, program.stderr];
    };
    expect(await run('migrate', '--dry-run')).to.deep.equal([0, 'the schema is up to date\n', '']);
    const [exitCode, stdout] = await run('export');
    expect(exitCode).to.equal(0);
    expect(stdout).to.include(`{"id":${plant.id},"name":"${plant.name}"}\n`);
  });

  for (const value of ['local', 'remote_write'] as const) {
    it(`the repository warns about synchronous_commit=${value} if a standby is configured`, async function () {
      skipUnlessInstalled(this, 'pg_receivewal', '--version');
      const url = new URL(server.server.url);
      url.searchParams.set('options', `-c synchronous_commit=${value}`);
      const warnings: string[] = [];
      const reopen = async () => {
        const warn = (warning: string) => warnings.push(warning);
        await (await openRepository(postgresDatabase({ url: url.href, timeoutMs: TIMEOUT_MS, warn }))).close();
      };
      await reopen();
      expect(warnings).to.deep.equal([]);

      // pg_receivewal syncs the log as a standby does.
      const receiver = `${server.server.url}?application_name=standby`;
      new Program(folder, ['pg_receivewal', '--synchronous', '-D', folder, '-d', receiver], {});
      await requireStandby('standby');
      await reopen();
      expect(warnings.join()).to.include(`synchronous_commit=${value}`);
    });
  }

  it('the repository warns about client_min_messages=error even if no standby is configured', async () => {
    const url = new URL(server.server.url);
    url.searchParams.set('options', '-c client_min_messages=error');
    const warnings: string[] = [];
    const warn = (warning: string) => warnings.push(warning);
    await (await openRepository(postgresDatabase({ url: url.href, timeoutMs: TIMEOUT_MS, warn }))).close();
    expect(warnings.join()).to.include('client_min_messages=error');
  });

  it('a duplicate writes nothing if no standby is configured', async () => {
    const plant = newPlant();
    await repository.add([plant]);
    const position = async () => (await admin.raw('SELECT pg_current_wal_insert_lsn() AS lsn')).rows[0].lsn;
    // Retry, because the server writes to the log in the background.
    await waitUntil('nothing was written', async () => {
      const start = await position();
      expect(await repository.add([plant])).to.deep.equal([{ kind: 'taken', holder: plant }]);
      return (await position()) === start;
    });
  });
});
