import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { openRepository, sqliteDatabase } from '../../adapters/driven/knex/index.js';
import { StorageUnavailable } from '../../core/index.js';
import { catchError } from '../support/catch-error.js';
import { create, serve } from '../support/client.js';
import { plantStore } from '../support/executable.js';
import { skipUnless } from '../support/skip-unless.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';
import { expectReadable } from './readable.js';

const PLANT = '{"id":1,"name":"Monstera"}';

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
      await expectReadable(folder, url, PLANT);
    });
  }

  it('print the missing migration if the schema is missing; export fails', async () => {
    const file = await SqliteFile.create(join(data, 'plants.db'));
    await file.exec('PRAGMA user_version = 1');
    await file.close();
    const run = (...args: string[]) => plantStore(folder, args, { DATABASE_URL: url }).result();
    const stderr = `plant-store: cannot open ${url}: its schema lacks 001_plants; run plant-store migrate\n`;
    expect(await run('export')).to.deep.equal({ exitCode: 1, stdout: '', stderr });
    expect((await run('migrate', '--dry-run')).stdout).to.match(/ contains no store yet\nwould apply 001_plants\n$/);
  });

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
