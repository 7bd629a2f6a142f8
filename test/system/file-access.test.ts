import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { openRepository, sqliteDatabase } from '../../adapters/driven/knex/index.js';
import { StorageUnavailable } from '../../core/index.js';
import { catchError } from '../support/catch-error.js';
import { create, serve } from '../support/client.js';
import { plantStore } from '../support/executable.js';
import { skipUnless, skipUnlessInstalled } from '../support/skip-unless.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';
import { expectReadable } from './readable.js';

/** Permissions do not restrict root until it gives up its capabilities. */
const UNPRIVILEGED = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];

describe('On a read-only file system, export and migrate --dry-run', () => {
  // Registered first, so that it runs before the folder is removed.
  after(() => spawnSync('umount', ['--lazy', view]));
  const folder = temporaryFolder();
  /** The same folder under two paths: `data` is writable, `view` is not. */
  const [data, view] = [join(folder, 'data'), join(folder, 'view')];
  const url = `sqlite:${join(view, 'plants.db')}`;

  before(function () {
    for (const path of [data, view]) mkdirSync(path);
    const isMounted = ['--bind', '--options=remount,bind,ro'].every(
      (option) => spawnSync('mount', [option, data, view]).status === 0,
    );
    skipUnless(this, isMounted, 'permission to bind-mount a folder');
  });
  afterEach(() => {
    for (const name of readdirSync(data)) rmSync(join(data, name));
  });

  /** Starts a service, creates a plant, and ends the service with a signal, if any. */
  async function storePlant(signal?: NodeJS.Signals): Promise<void> {
    const service = serve(data);
    expect((await create(await service.port(), { id: 1n, name: 'Monstera' }))?.outcome).to.equal(200);
    if (signal) await service.kill(signal).exited();
  }

  for (const [state, signal, files] of [
    ['stopped', 'SIGTERM', ['plants.db']],
    ['running', undefined, ['plants.db', 'plants.db-shm', 'plants.db-wal']],
    ['killed', 'SIGKILL', ['plants.db', 'plants.db-shm', 'plants.db-wal']],
  ] as const) {
    it(`read the file of a ${state} service`, async () => {
      await storePlant(signal);
      expect(readdirSync(data)).to.deep.equal(files);
      await expectReadable(folder, url);
    });
  }

  it('do not read a file beside the journal of an interrupted transaction', async () => {
    await storePlant('SIGTERM');
    writeFileSync(join(data, 'plants.db-journal'), 'x'.repeat(1000));
    const stderr = `plant-store: cannot open ${url}: the file system of ${view} is read-only\n`;
    const result = await plantStore(folder, ['export'], { DATABASE_URL: url }).result();
    expect(result).to.deep.equal({ exitCode: 1, stdout: '', stderr });
  });

  it('use a repository that fails if another program writes to the file meanwhile', async () => {
    await storePlant('SIGTERM');
    const options = { path: join(view, 'plants.db'), timeoutMs: 1000, readOnly: true };
    const repository = await openRepository(sqliteDatabase(options));
    try {
      const file = await SqliteFile.open(join(data, 'plants.db'));
      await file.exec("INSERT INTO plants VALUES (2, 'Ficus', NULL)");
      await file.close();
      const error = await catchError(repository.readAll()[Symbol.asyncIterator]().next());
      expect(error).to.be.instanceOf(StorageUnavailable);
      expect(`${error}`).to.include('another program wrote to the SQLite file');
    } finally {
      await repository.close();
    }
  });
});

describe('With limited permissions, a command', () => {
  const folder = temporaryFolder();
  const data = join(folder, 'data');
  before(async function () {
    if (UNPRIVILEGED.length > 0) skipUnlessInstalled(this, 'setpriv', '--version');
    mkdirSync(data);
    await plantStore(data, ['migrate']).result();
  });
  afterEach(() => {
    chmodSync(data, 0o700);
    chmodSync(join(data, 'plants.db'), 0o600);
  });

  it('names the user who may not read a file of tokens', async () => {
    chmodSync(join(data, 'plants.db'), 0);
    const tokens = { ACCESS_TOKENS_FILE: 'data/plants.db', DATABASE_URL: 'memory:' };
    const { exitCode, stderr } = await plantStore(folder, ['check'], tokens, UNPRIVILEGED).result();
    expect(exitCode).to.equal(78);
    expect(stderr).to.match(RegExp(`the file cannot be read by user ${process.getuid?.()} \\(EACCES\\)\n$`));
  });

  for (const [what, denied, mode, file, args, action] of [
    ['a folder for a new store', 'data', 0o500, 'data/new.db', ['serve'], `create files in ${data}`],
    ['a folder for the write-ahead log', 'data', 0o500, 'data/plants.db', ['serve'], `create files in ${data}`],
    [
      'a folder for a new store to migrate',
      'data',
      0o500,
      'data/new.db',
      ['migrate', '--dry-run'],
      `create files in ${data}`,
    ],
    ['a folder that serve may not enter', 'data', 0o600, 'data/a/plants.db', ['serve'], `enter ${data}`],
    ['a folder that export may not enter', 'data', 0o600, 'data/plants.db', ['export'], `enter ${data}`],
    ['a read-only file, to serve', 'data/plants.db', 0o400, 'data/plants.db', ['serve'], `write ${data}/plants.db`],
    ['a read-only file, to check it', 'data/plants.db', 0o400, 'data/plants.db', ['check'], `write ${data}/plants.db`],
    ['an unreadable file', 'data/plants.db', 0o000, 'data/plants.db', ['export'], `read ${data}/plants.db`],
  ] as const) {
    it(`names the user and the denied file or folder: ${what}`, async () => {
      chmodSync(join(folder, denied), mode);
      const path = join(folder, file);
      const run = plantStore(folder, args, { DATABASE_URL: `sqlite:${path}`, PORT: '0' }, UNPRIVILEGED);
      const reason = `permission denied: user ${process.getuid?.()} may not ${action}; change its owner or permissions`;
      const { exitCode, stderr } = await run.result();
      expect(exitCode).to.equal(1);
      expect(stderr).to.equal(`plant-store: cannot open sqlite:${path}: ${reason}\n`);
    });
  }

  it('exports without permission to write', async () => {
    const file = join(data, 'plants.db');
    for (const path of [data, file]) {
      chmodSync(path, 0o500);
      const run = plantStore(folder, ['export'], { DATABASE_URL: `sqlite:${file}` }, UNPRIVILEGED);
      expect(await run.result()).to.deep.equal({ exitCode: 0, stdout: '', stderr: '' });
    }
  });
});
