import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { openRepository, postgresDatabase, sqliteDatabase } from '../../adapters/knex/index.js';
import { StorageUnavailable } from '../../core/index.js';
import { catchError } from '../support/catch-error.js';
import { create, serve, toOutcome } from '../support/client.js';
import { Executable, endProgramsAfterEach } from '../support/executable.js';
import { toPlant } from '../support/plants.js';
import { PrivateServer, privateServers } from '../support/private-server.js';
import { skipUnless, skipUnlessInstalled } from '../support/skip-unless.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';

/** Runs a read-only command until it exits. */
async function run(folder: string, url: string, ...args: string[]) {
  const program = new Executable(folder, args, { DATABASE_URL: url });
  const exitCode = await program.exited();
  return { exitCode, stdout: program.stdout, stderr: program.stderr };
}

/** Expects both read-only commands to work on a store with exactly this plant. */
async function expectReadable(folder: string, url: string, plant: string): Promise<void> {
  expect(await run(folder, url, 'export')).to.deep.equal({ exitCode: 0, stdout: `${plant}\n`, stderr: '' });
  const expected = { exitCode: 0, stdout: 'the schema is up to date\n', stderr: '' };
  expect(await run(folder, url, 'migrate', '--dry-run')).to.deep.equal(expected);
}

describe('On a read-only file system, export and migrate --dry-run', () => {
  endProgramsAfterEach();
  // Registered first, so that it runs before the folder is removed.
  after(() => spawnSync('umount', ['--lazy', view]));
  const folder = temporaryFolder();
  /** The same folder under two paths: `data` is writable, `view` is not. */
  const data = join(folder, 'data');
  const view = join(folder, 'view');
  const url = `sqlite:${join(view, 'plants.db')}`;
  const plant = '{"id":1,"name":"Monstera"}';

  before(function () {
    mkdirSync(data);
    mkdirSync(view);
    const isMounted = ['--bind', '--options=remount,bind,ro'].every(
      (option) => spawnSync('mount', [option, data, view]).status === 0,
    );
    skipUnless(this, isMounted, 'permission to bind-mount a folder');
  });
  afterEach(() => {
    for (const name of readdirSync(data)) rmSync(join(data, name));
  });

  /** Starts a service and creates a plant. */
  async function serveOnePlant(): Promise<Executable> {
    const service = serve(data);
    expect(toOutcome(await create(await service.port(), { id: 1n, name: 'Monstera' }))).to.equal(200);
    return service;
  }

  it('read the file of a stopped service', async () => {
    await (await serveOnePlant()).kill('SIGTERM').exited();
    expect(readdirSync(data)).to.deep.equal(['plants.db']);
    await expectReadable(folder, url, plant);
  });

  it('read the file of a running service', async () => {
    await serveOnePlant();
    await expectReadable(folder, url, plant);
  });

  it('read the file of a killed service', async () => {
    await (await serveOnePlant()).kill('SIGKILL').exited();
    expect(readdirSync(data)).to.include('plants.db-wal');
    await expectReadable(folder, url, plant);
  });

  it('fail if the write-ahead log lacks its shared-memory file', async () => {
    await serveOnePlant();
    for (const suffix of ['', '-wal']) copyFileSync(join(data, `plants.db${suffix}`), join(data, `copy.db${suffix}`));
    for (const args of [['export'], ['migrate', '--dry-run']]) {
      const { exitCode, stdout, stderr } = await run(folder, `sqlite:${join(view, 'copy.db')}`, ...args);
      expect({ exitCode, stdout }).to.deep.equal({ exitCode: 1, stdout: '' });
      expect(stderr).to.match(/^plant-store: cannot open .*: permission denied for the file or its directory\n$/);
    }
  });

  it('print the missing migration if the schema is missing; export fails', async () => {
    const file = await SqliteFile.create(join(data, 'plants.db'));
    await file.exec('PRAGMA user_version = 1');
    await file.close();
    expect(await run(folder, url, 'export')).to.deep.equal({
      exitCode: 1,
      stdout: '',
      stderr: `plant-store: cannot open sqlite:${join(view, 'plants.db')}: its schema lacks 001_plants; run plant-store migrate\n`,
    });
    expect((await run(folder, url, 'migrate', '--dry-run')).stdout).to.equal('would apply 001_plants\n');
  });

  it('use a repository that fails if another program writes to the file meanwhile', async () => {
    await (await serveOnePlant()).kill('SIGTERM').exited();
    const repository = await openRepository(
      sqliteDatabase({ path: join(view, 'plants.db'), timeoutMs: 1000, readOnly: true }),
    );
    try {
      const file = await SqliteFile.open(join(data, 'plants.db'));
      await file.exec("INSERT INTO plants VALUES (2, 'Ficus', NULL)");
      await file.close();
      const error = await catchError(repository.readAll().next());
      expect(error).to.be.instanceOf(StorageUnavailable);
      expect(`${error}`).to.include('another program wrote to the SQLite file');
    } finally {
      await repository.close();
    }
  });
});

describe('On a PostgreSQL hot standby, export and migrate --dry-run', () => {
  const folder = temporaryFolder();
  const servers: PrivateServer[] = [];
  afterEach(() => Promise.all(servers.map((server) => server.kill())));
  endProgramsAfterEach();

  it('read the plants of the primary', async function () {
    PrivateServer.skipUnlessAvailable(this, privateServers.postgres);
    skipUnlessInstalled(this, 'pg_basebackup', '--version');
    const start = async (kind: Parameters<typeof PrivateServer.install>[0]) => {
      const server = await PrivateServer.install(kind, folder);
      servers.push(server);
      await server.start();
      return server.server.url;
    };
    const primary = await start(privateServers.postgres);
    const repository = await openRepository(postgresDatabase({ url: primary, timeoutMs: 10_000 }));
    const plant = toPlant({ id: 1n, name: 'Monstera' });
    await repository.add([plant]);
    await repository.close();
    const standby = await start({
      ...privateServers.postgres,
      name: 'standby',
      install: (own) => ['pg_basebackup', '-R', '-D', join(own, 'data'), '-d', primary],
    });
    await expectReadable(folder, standby, '{"id":1,"name":"Monstera"}');
  });
});
