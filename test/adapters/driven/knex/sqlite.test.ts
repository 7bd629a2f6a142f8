import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { after, describe, it } from 'mocha';
import {
  type Database,
  openRepository,
  readPendingMigrations,
  type SchemaState,
  sqlite,
  sqliteDatabase,
} from '../../../../adapters/driven/knex/index.js';
import { type Plant, type PlantRepository, StorageUnavailable } from '../../../../core/index.js';
import { type OpenPlantRepository, plantRepositoryContract } from '../../../contract/index.js';
import { catchError } from '../../../support/catch-error.js';
import { toPlant } from '../../../support/plants.js';
import { readPlants } from '../../../support/read-plants.js';
import { runContract } from '../../../support/run-contract.js';
import { SqliteFile } from '../../../support/sqlite-file.js';
import { temporaryFolder } from '../../../support/temporary.js';

/** A name and tag that must not appear in any error. */
const CANARY = 'canary-4711';
const ADDED = [{ kind: 'added' }];

describe('The SQLite repository', () => {
  const folder = temporaryFolder();
  let files = 0;
  const newFile = () => join(folder, `${++files}.db`);
  const toClose: { close(): Promise<void> }[] = [];
  after(() => Promise.all(toClose.map((open) => open.close())));

  /** Opens a repository, and closes it after the tests. */
  async function open(path: string, timeoutMs = 10_000): Promise<OpenPlantRepository> {
    const repository = await openRepository(sqliteDatabase({ path, timeoutMs }));
    toClose.push(repository);
    return repository;
  }

  /** Opens the file as another program. */
  async function openRaw(path: string): Promise<SqliteFile> {
    const raw = await SqliteFile.open(path);
    toClose.push(raw);
    return raw;
  }

  /** Asserts that opening fails with this reason. */
  async function expectCannotOpen(path: string, reason: string, open: typeof openRead = openRepository): Promise<void> {
    const error = await catchError(open(sqliteDatabase({ path, timeoutMs: 500 })));
    expect(error)
      .to.be.instanceOf(StorageUnavailable)
      .with.property('message', `cannot open sqlite:${path}: ${reason}`);
  }
  const openRead = (database: Database): Promise<unknown> => openRepository({ ...database, readOnly: true });

  describe('meets the contract:', () => {
    let path: string;
    const reopen = () => openRepository(sqliteDatabase({ path, timeoutMs: 10_000 }));
    const harness = {
      open: async () => {
        path = newFile();
        const repository = await reopen();
        const raw = await SqliteFile.open(path);
        await raw.exec(POISON).finally(() => raw.close());
        return repository;
      },
      reopen,
      openAnother: reopen,
      rejectedPlant: () => plant(7_000_001n, 'poison', CANARY),
    };
    runContract(plantRepositoryContract(harness));
  });

  describe('meets the contract while another program locks the file:', () => {
    let path: string;
    // Long enough to open the file on a busy machine.
    const reopen = () => openRepository(sqliteDatabase({ path, timeoutMs: 500 }));
    runContract(
      plantRepositoryContract({
        open: () => {
          path = newFile();
          return reopen();
        },
        reopen,
        whileUnavailable: async (work) => {
          const raw = await SqliteFile.open(path);
          await raw.exec('BEGIN EXCLUSIVE');
          await work().finally(() => raw.close());
        },
      }),
      (group) => group.includes('outages'),
    );
  });

  describe('writes', () => {
    it('with a sync at every commit', async () => {
      const path = newFile();
      const repository = await open(path);
      // The pragma is per connection, so a trigger reads it on the repository's connection.
      const raw = await openRaw(path);
      await raw.exec(`
        CREATE TABLE seen (synchronous);
        CREATE TRIGGER look AFTER INSERT ON plants
        BEGIN INSERT INTO seen SELECT synchronous FROM pragma_synchronous; END`);
      await repository.add([plant(1n)]);
      expect(await raw.all('SELECT synchronous FROM seen')).to.deep.equal([{ synchronous: 2 }]);
    });

    it('an application id', async () => {
      const path = newFile();
      await open(path);
      const [row] = await (await openRaw(path)).all('PRAGMA application_id');
      expect(row).to.deep.equal({ application_id: Buffer.from('PLNT').readInt32BE() });
    });
  });

  describe('opens a file', () => {
    it('that four repositories create concurrently', async () => {
      const path = newFile();
      const repositories = await Promise.all([open(path), open(path), open(path), open(path)]);
      await Promise.all(repositories.map((repository, index) => repository.add([plant(BigInt(index))])));
      expect(await readIds(repositories[0])).to.deep.equal([0n, 1n, 2n, 3n]);
    });

    it('after a process was killed during its migration', async () => {
      const path = newFile();
      const killed = spawnSync(process.execPath, ['--input-type=module', '--eval', KILLED_MIGRATION, path]);
      expect(killed.signal, `${killed.stderr}`).to.equal('SIGKILL');
      expect(killed.stdout.toString()).to.equal('created');
      const repository = await open(path, 1000);
      expect(await repository.add([plant(1n)])).to.deep.equal(ADDED);
    });
  });

  it('reports whether its schema was created, migrated or current', async () => {
    const states: SchemaState[] = [];
    const path = newFile();
    const added = { ...sqlite.migrations, '002_sites': ['CREATE TABLE sites (name TEXT)'] };
    for (const migrations of [sqlite.migrations, sqlite.migrations, added]) {
      const database = sqliteDatabase({ path, timeoutMs: 10_000 });
      const engine = { ...database.engine, migrations };
      const repository = await openRepository({ ...database, engine });
      states.push(repository.schema);
      await repository.close();
    }
    expect(states).to.deep.equal(['created', 'current', 'migrated']);
  });

  it('waits for a lock of another program for longer than the busy timeout of SQLite', async () => {
    const path = newFile();
    const repository = await open(path);
    const raw = await openRaw(path);
    await raw.exec('BEGIN EXCLUSIVE');
    const adding = repository.add([plant(1n)]);
    await setTimeout(500);
    await raw.exec('ROLLBACK');
    expect(await adding).to.deep.equal(ADDED);
  });

  it('when opened read-only, removes the log on close', async () => {
    const path = newFile();
    await (await openRepository(sqliteDatabase({ path, timeoutMs: 10_000 }))).close();
    const reader = await openRepository(sqliteDatabase({ path, timeoutMs: 10_000, readOnly: true }));
    await readIds(reader);
    expect(await catchError(reader.add([plant(1n)]))).to.be.instanceOf(Error);
    await reader.close();
    expect(['-wal', '-shm'].filter((suffix) => existsSync(path + suffix))).to.deep.equal([]);
  });

  it('throws StorageUnavailable after the timeout, for all calls at once, while another program locks the file', async () => {
    const path = newFile();
    const timeoutMs = 500;
    const repository = await open(path, timeoutMs);
    const raw = await openRaw(path);
    await raw.exec('BEGIN EXCLUSIVE');
    const start = performance.now();
    const ids = Array.from({ length: 20 }, (_, index) => BigInt(index));
    const errors = await Promise.all(ids.map((id) => catchError(repository.add([plant(id)]))));
    // One at a time, they would take twenty times as long.
    expect(performance.now() - start).to.be.within(timeoutMs / 2, timeoutMs * 10);
    for (const error of errors) expect(error).to.be.instanceOf(StorageUnavailable);
    await expectCannotOpen(
      path,
      'timed out waiting for a lock held by another process; stop that process, or wait for it',
    );
  });

  it('throws StorageUnavailable and is not ready while the table is missing', async () => {
    const path = newFile();
    const repository = await open(path);
    const raw = await openRaw(path);
    await raw.exec('ALTER TABLE plants RENAME TO moved');
    expect(await catchError(repository.add([plant(1n)]))).to.be.instanceOf(StorageUnavailable);
    expect(await catchError(repository.ready())).to.be.instanceOf(StorageUnavailable);
    await raw.exec('ALTER TABLE moved RENAME TO plants');
    await repository.ready();
    expect(await repository.add([plant(1n)])).to.deep.equal(ADDED);
  });

  it('is ready for reading if an id exceeds a number', async () => {
    const path = newFile();
    await (await open(path)).add([plant(2n ** 53n + 1n)]);
    const repository = await openRepository(sqliteDatabase({ path, timeoutMs: 10_000, readOnly: true }));
    toClose.push(repository);
    await repository.ready();
  });

  it('is ready after an outage even if a trigger rejects the row of its probe', async () => {
    const path = newFile();
    const repository = await open(path, 500);
    const raw = await openRaw(path);
    await raw.exec(
      `CREATE TRIGGER reject BEFORE INSERT ON plants BEGIN SELECT RAISE(ABORT, 'no'); END; BEGIN EXCLUSIVE`,
    );
    expect(await catchError(repository.add([plant(1n)]))).to.be.instanceOf(StorageUnavailable);
    await raw.exec('ROLLBACK');
    await repository.ready();
  });

  describe('reports in one sentence that it cannot open', () => {
    const textFile = newFile();
    writeFileSync(textFile, 'These are plants, but not a database. '.repeat(100));
    const aFolder = join(folder, 'folder.db');
    mkdirSync(aFolder);
    for (const [what, path, reason] of [
      ['a file that is not a database', textFile, 'it is not a SQLite database'],
      ['a directory', aFolder, 'it is a directory'],
      ['a path through a file', join(textFile, 'b.db'), 'a part of the path is a file, not a directory'],
    ] as const) {
      it(what, () => expectCannotOpen(path, reason));
    }

    const otherTable = 'ALTER TABLE plants RENAME TO moved; CREATE TABLE plants AS SELECT * FROM moved';
    const lackedColumns = 'lacks columns: id integer primary key; restore it, or choose another database';
    for (const [what, sql, reason] of [
      ['a missing table', 'DROP TABLE plants', 'is missing or hidden from this user; restore it or grant access'],
      ['a table without a primary key', otherTable, lackedColumns],
    ] as const) {
      it(`a database with ${what}`, async () => {
        const path = newFile();
        await (await openRepository(sqliteDatabase({ path, timeoutMs: 1000 }))).close();
        await (await openRaw(path)).exec(sql);
        for (const call of [openRepository, openRead, readPendingMigrations])
          await expectCannotOpen(path, `the table plants ${reason}`, call);
      });
    }

    it('a database whose migration and rollback fail', async () => {
      const database = sqliteDatabase({ path: newFile(), timeoutMs: 1000 });
      // Ends the transaction, so that there is nothing to roll back.
      const migrations = { one: ['CREATE TABLE t (c NOT NULL)', 'INSERT OR ROLLBACK INTO t VALUES (NULL)'] };
      const error = await catchError(openRepository({ ...database, engine: { ...database.engine, migrations } }));
      expect(error).to.have.property('message', `cannot open ${database.name}: it reported SQLITE_CONSTRAINT`);
    });
  });

  describe('reveals no name, tag or SQL in the error for', () => {
    // U+2028 and U+2029 are line breaks in regular expressions, and JSON does not escape them.
    const stackFrames = ['\n', '\r', '\u2028', '\u2029'].map((lineBreak) => `${lineBreak}    at ${CANARY}`).join('');
    for (const [what, sql] of [
      [
        'a plant that the database rejects',
        `CREATE TRIGGER reject BEFORE INSERT ON plants BEGIN SELECT RAISE(ABORT, 'no ${CANARY}'); END`,
      ],
      ['an unavailable storage', 'BEGIN EXCLUSIVE'],
      ['a dropped table', 'DROP TABLE plants'],
    ] as const) {
      it(what, async () => {
        const path = newFile();
        const repository = await open(path, 500);
        await (await openRaw(path)).exec(sql);
        for (const name of [CANARY, stackFrames]) {
          const adding = repository.add([plant(1n, name, CANARY)]);
          const error = await adding.then(
            ([outcome]) => outcome?.kind === 'rejected' && outcome.error,
            (reason) => reason,
          );
          expectNothingRevealed(error);
        }
      });
    }

    it('an invalid row written by another program', async () => {
      const path = newFile();
      const repository = await open(path);
      await (await openRaw(path)).exec(
        `INSERT INTO plants (id, name, tag) VALUES (1, '${CANARY}' || char(0), '${CANARY}')`,
      );
      const error = await catchError(readIds(repository));
      expect(`${error}`).to.equal(
        'StorageUnavailable: a stored row is not a valid plant: name must not contain U+0000 or a lone surrogate',
      );
      expectNothingRevealed(error);
      // Only a plant with the same id is affected.
      const [sameId, otherId] = await repository.add([plant(1n, CANARY), plant(2n)]);
      expectNothingRevealed(sameId?.kind === 'rejected' ? sameId.error : undefined);
      expect(otherId).to.deep.equal({ kind: 'added' });
    });
  });
});

/** Makes the database reject plants named `poison`. */
const POISON = `
  CREATE TRIGGER poison BEFORE INSERT ON plants WHEN NEW.name = 'poison'
  BEGIN SELECT RAISE(ABORT, 'poisoned'); END`;

const KILLED_MIGRATION = `
  import { writeSync } from 'node:fs';
  import { openRepository, sqlite, sqliteDatabase } from '${new URL('../../../../adapters/driven/knex/index.js', import.meta.url)}';
  await openRepository({
    ...sqliteDatabase({ path: process.argv[1], timeoutMs: 1000 }),
    engine: {
      ...sqlite,
      async withMigrationLock(transaction, work) {
        await sqlite.withMigrationLock(transaction, work);
        writeSync(1, 'created');
        process.kill(process.pid, 'SIGKILL');
        await new Promise(() => {});
      },
    },
  });`;

function plant(id: bigint, name = `plant ${id}`, tag?: string): Plant {
  return toPlant({ id, name, tag });
}

async function readIds(repository: PlantRepository): Promise<bigint[]> {
  return (await readPlants(repository.readAll())).map(({ id }) => id);
}

/** Asserts that an error and its causes contain no values and no SQL. */
function expectNothingRevealed(error: unknown): void {
  expect(error).to.be.instanceOf(Error);
  for (let current = error; current instanceof Error; current = current.cause) {
    const text = [current.message, current.stack, JSON.stringify(Object.entries(current))].join('\n');
    expect(text).to.not.include(CANARY);
    expect(text).to.not.match(/INSERT INTO|SELECT |json_each|RAISE|ON CONFLICT/);
  }
}
