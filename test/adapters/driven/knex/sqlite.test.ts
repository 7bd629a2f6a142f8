import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { after, describe, it } from 'mocha';
import {
  type Database,
  type Engine,
  openRepository,
  readPendingMigrations,
  type SchemaState,
  sqlite,
  sqliteDatabase,
} from '../../../../adapters/driven/knex/index.js';
import { type Plant, type PlantRepository, StorageUnavailable } from '../../../../core/index.js';
import { type OpenPlantRepository, plantRepositoryContract } from '../../../contract/index.js';
import { catchError } from '../../../support/catch-error.js';
import { sqliteStore } from '../../../support/engines.js';
import { toPlant } from '../../../support/plants.js';
import { readPlants } from '../../../support/read-plants.js';
import { runContract } from '../../../support/run-contract.js';
import { SqliteFile } from '../../../support/sqlite-file.js';
import { temporaryFolder } from '../../../support/temporary.js';

/** A name and tag that must not appear in any error. */
const CANARY = 'canary-4711';
const ADDED = [{ kind: 'added' }];
const NOT_STORABLE = 'must not contain U+0000 or a lone surrogate';

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

  /** Opens a repository whose engine differs in some members. */
  async function openChanged(change: Partial<Engine>, path = newFile(), options: Partial<Database> = {}) {
    const database = sqliteDatabase({ path, timeoutMs: 2000 });
    const repository = await openRepository({ ...database, ...options, engine: { ...database.engine, ...change } });
    toClose.push(repository);
    return repository;
  }

  /** Opens the file as another program. */
  async function openRaw(path: string): Promise<SqliteFile> {
    const raw = await SqliteFile.open(path);
    toClose.push(raw);
    return raw;
  }

  type Opener = (database: Database) => Promise<unknown>;
  const openReadOnly: Opener = (database) => openRepository({ ...database, readOnly: true });

  /** Asserts that opening fails with this reason. */
  async function expectCannotOpen(path: string, reason: string, opener: Opener = openRepository): Promise<void> {
    const error = await catchError(opener(sqliteDatabase({ path, timeoutMs: 500 })));
    expect(error)
      .to.be.instanceOf(StorageUnavailable)
      .with.property('message', `cannot open sqlite:${path}: ${reason}`);
  }

  describe('meets the contract:', () => {
    let path: string;
    const harness = (timeoutMs: number) => {
      const reopen = () => openRepository(sqliteDatabase({ path, timeoutMs }));
      const open = async () => {
        path = newFile();
        const repository = await reopen();
        await sqliteStore(path).rejectPoison();
        return repository;
      };
      return { open, reopen, openAnother: reopen, rejectedPlant: () => plant(7_000_001n, 'poison', CANARY) };
    };
    runContract(plantRepositoryContract(harness(10_000)));

    const whileUnavailable = async (work: () => Promise<void>) => {
      const raw = await SqliteFile.open(path);
      await raw.exec('BEGIN EXCLUSIVE');
      await work().finally(() => raw.close());
    };
    // With a timeout that is short, but long enough to open the file on a busy machine.
    const outages = plantRepositoryContract({ ...harness(500), whileUnavailable });
    runContract(outages, (group) => group.includes('outages'));
  });

  describe('writes', () => {
    it('with a sync at every commit, a short wait for locks, and an application id', async () => {
      const path = newFile();
      const repository = await open(path);
      // Some pragmas are per connection, so a trigger reads them on the repository's connection.
      const raw = await openRaw(path);
      await raw.exec(`
        CREATE TABLE seen (synchronous, timeout, application_id);
        CREATE TRIGGER look AFTER INSERT ON plants
        BEGIN INSERT INTO seen SELECT * FROM pragma_synchronous, pragma_busy_timeout, pragma_application_id; END`);
      await repository.add([plant(1n)]);
      const application_id = Buffer.from('PLNT').readInt32BE();
      expect(await raw.all('SELECT * FROM seen')).to.deep.equal([{ synchronous: 2, timeout: 200, application_id }]);
    });

    it('at most 1 MiB of text, or one plant, per statement, and a large plant as a probe', async () => {
      const batches: number[][] = [];
      const insert: Engine['insert'] = async (_, plants) => {
        batches.push(plants.map(({ name }) => name.length));
        return [];
      };
      const sizes = [2 ** 21, 600_000, 600_000, 1, 1];
      const repository = await openChanged({ insert });
      await repository.ready();
      await repository.add(sizes.map((size, id) => plant(BigInt(id), 'x'.repeat(size))));
      expect(batches).to.deep.equal([[4000], [2 ** 21], [600_000], [600_000], [1, 1]]);
    });
  });

  it('opens a file that four repositories create concurrently', async () => {
    const path = newFile();
    const repositories = await Promise.all([open(path), open(path), open(path), open(path)]);
    await Promise.all(repositories.map((repository, index) => repository.add([plant(BigInt(index))])));
    expect(await readIds(repositories[0])).to.deep.equal([0n, 1n, 2n, 3n]);
  });

  it('opens a file in the state in which a process that is killed during its migration leaves it', async () => {
    const [path, left] = [newFile(), newFile()];
    const withMigrationLock: Engine['withMigrationLock'] = async (transaction, work) => {
      const schema = await sqlite.withMigrationLock(transaction, work);
      // In another process: closing a file releases SQLite's locks on it.
      for (const suffix of ['', '-wal'])
        execFileSync(process.execPath, [
          '-e',
          'fs.copyFileSync(...process.argv.slice(1))',
          path + suffix,
          left + suffix,
        ]);
      return schema;
    };
    await openChanged({ withMigrationLock }, path);
    const repository = await open(left, 1000);
    expect(await repository.add([plant(1n)])).to.deep.equal(ADDED);
  });

  it('reports whether its schema was created, migrated or current', async () => {
    const states: SchemaState[] = [];
    const path = newFile();
    const added = { ...sqlite.migrations, '002_sites': ['CREATE TABLE sites (name TEXT)'], '003_none': [] };
    for (const migrations of [sqlite.migrations, sqlite.migrations, added]) {
      const repository = await openChanged({ migrations }, path);
      states.push(repository.schema);
      await repository.close();
    }
    expect(states).to.deep.equal(['created', 'current', 'migrated']);
    await expectCannotOpen(path, 'its schema has 002_sites, 003_none; start a newer version of plant-store');
  });

  it('when opened read-only, names each missing migration', async () => {
    const path = newFile();
    writeFileSync(path, '');
    const migrations = { ...sqlite.migrations, '002_sites': [] };
    const error = await catchError(openChanged({ migrations }, path, { readOnly: true }));
    expect(`${error}`).to.match(/: its schema lacks 001_plants, 002_sites; run plant-store migrate$/);
    expect(await readPendingMigrations(sqliteDatabase({ path, timeoutMs: 1000 }))).to.deep.equal(['001_plants']);
  });

  it('warns about settings that acknowledge writes before they are durable', async () => {
    const warnings: string[] = [];
    const warn = (warning: string) => warnings.push(warning);
    const nonDurableSettingsSql = "SELECT 'a=off' AS setting UNION ALL SELECT 'b=2'";
    await openChanged({ nonDurableSettingsSql });
    for (const change of [{ nonDurableSettingsSql }, { nonDurableSettingsSql: 'SELECT 1 AS setting WHERE false' }, {}])
      await openChanged(change, newFile(), { warn });
    const text = 'the database acknowledges plants before they are durable; a power cut or a failover may lose them';
    expect(warnings).to.deep.equal([`${text}: a=off, b=2`]);
  });

  it("waits for another program's lock for longer than SQLite's busy timeout", async () => {
    const path = newFile();
    const repository = await open(path);
    const raw = await openRaw(path);
    await raw.exec('BEGIN EXCLUSIVE');
    const adding = repository.add([plant(1n)]);
    await setTimeout(500);
    await raw.exec('ROLLBACK');
    expect(await adding).to.deep.equal(ADDED);
  });

  it('when opened read-only, is ready, reads an id beyond 2^53, adds nothing, and removes the log on close', async () => {
    const path = newFile();
    const id = 2n ** 53n + 1n;
    const writer = await open(path);
    await writer.add([plant(id)]);
    await writer.close();
    const reader = await openRepository(sqliteDatabase({ path, timeoutMs: 10_000, readOnly: true }));
    await reader.ready();
    expect(reader.schema).to.equal('current');
    expect(await readIds(reader)).to.deep.equal([id]);
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

  it('throws StorageUnavailable and is not ready while the table or a column is missing', async () => {
    const path = newFile();
    const repository = await open(path);
    await repository.ready();
    const raw = await openRaw(path);
    await raw.exec('ALTER TABLE plants RENAME TO moved');
    expect(await catchError(repository.ready())).to.be.instanceOf(StorageUnavailable);
    expect(await catchError(repository.add([plant(1n)]))).to.be.instanceOf(StorageUnavailable);
    expect(await catchError(repository.ready())).to.be.instanceOf(StorageUnavailable);
    await raw.exec('ALTER TABLE moved RENAME TO plants; ALTER TABLE plants RENAME COLUMN tag TO kind');
    expect(await catchError(repository.ready())).to.be.instanceOf(StorageUnavailable);
    await raw.exec('ALTER TABLE plants RENAME COLUMN kind TO tag');
    await repository.ready();
    expect(await repository.add([plant(1n)])).to.deep.equal(ADDED);
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

  for (const [delayMs, code, reason] of [
    [0, 'UNKNOWN', 'DriverError: the storage reported UNKNOWN'],
    [0, 'SQLITE_TOOBIG', 'PlantRejected: the storage rejected the plant (SQLITE_TOOBIG)'],
    [1200, 'SQLITE_FULL', 'StorageTimeout: the storage is unavailable (SQLITE_FULL)'],
  ] as const) {
    it(`reports an error ${code} after ${delayMs} of 2000 ms as "${reason}"`, async () => {
      const insert = () => setTimeout(delayMs).then(() => Promise.reject(Object.assign(new Error(), { code })));
      const error = await errorOf((await openChanged({ insert })).add([plant(1n)]));
      expect(`${error}`).to.equal(reason);
      expect(Object(error).cause?.code).to.equal(/\((.*)\)/.exec(reason)?.[1]);
    });
  }

  it('throws StorageUnavailable if the plants that hold the ids disappear', async () => {
    const repository = await openChanged({ insert: async (_, plants) => plants, select: async () => [] });
    expect(`${await catchError(repository.add([plant(1n)]))}`).to.match(/^StorageUnavailable: plants disappeared /);
  });

  it("keeps values out of the driver's errors, which tracers export", async () => {
    let error: unknown;
    const insert: Engine['insert'] = async (knex) => {
      error = await catchError(knex.raw('SELECT ? FROM missing', [CANARY]));
      return [];
    };
    await (await openChanged({ insert })).add([plant(1n)]);
    expect(`${error}`).to.include('SQLITE_ERROR').and.not.include(CANARY);
  });

  it('is not ready while an earlier probe hangs in the server', async () => {
    const isReady = async (query: string) => (await openChanged({ hangingProbesSql: query })).ready();
    await isReady("SELECT 1 WHERE ? = 'another statement'");
    const error = await catchError(isReady("SELECT 1 WHERE ? LIKE 'PRAGMA %'"));
    expect(`${error}`).to.equal('StorageUnavailable: an earlier probe hangs in the server');
  });

  for (const [what, change, waits] of [
    ['waits for the statement of a probe', {}, true],
    ['does not wait for a probe that may hang in a server', { hangingProbesSql: 'SELECT 1 WHERE ? IS NULL' }, false],
  ] as const) {
    it(`when closed, ${what}`, async () => {
      const path = newFile();
      const repository = await openChanged(change, path);
      const raw = await openRaw(path);
      await raw.exec('BEGIN EXCLUSIVE');
      const probing = catchError(repository.ready());
      const closing = repository.close();
      expect(await Promise.race([closing, setImmediate('waits')])).to.equal(waits ? 'waits' : undefined);
      await raw.exec('ROLLBACK');
      await Promise.all([probing, closing]);
      for (const call of [repository.add([]), repository.ready()])
        expect(`${await catchError(call)}`).to.equal('StorageUnavailable: the repository is closed');
    });
  }

  describe('reports in one sentence that it cannot open', () => {
    it('a database of another program', async () => {
      const path = newFile();
      await (await SqliteFile.create(path)).exec('PRAGMA application_id = 1');
      await expectCannotOpen(path, 'it belongs to another program');
    });

    const otherTable = 'ALTER TABLE plants RENAME TO moved; CREATE TABLE plants AS SELECT id, name FROM moved';
    const lackedColumns = 'lacks columns: id integer primary key, tag text; restore it, or choose another database';
    for (const [what, sql, reason] of [
      ['a missing table', 'DROP TABLE plants', 'is missing or hidden from this user; restore it or grant access'],
      ['another table', otherTable, lackedColumns],
    ] as const) {
      it(`a database with ${what}`, async () => {
        const path = newFile();
        await (await openRepository(sqliteDatabase({ path, timeoutMs: 1000 }))).close();
        await (await openRaw(path)).exec(sql);
        for (const opener of [openRepository, openReadOnly, readPendingMigrations])
          await expectCannotOpen(path, `the table plants ${reason}`, opener);
      });
    }

    it('a database whose migration and rollback fail', async () => {
      const path = newFile();
      // Ends the transaction, so that there is nothing to roll back.
      const migrations = { one: ['CREATE TABLE t (c NOT NULL)', 'INSERT OR ROLLBACK INTO t VALUES (NULL)'] };
      const error = await catchError(openChanged({ migrations }, path));
      expect(`${error}`).to.match(/: cannot open .*: it reported SQLITE_CONSTRAINT$/);
      expect(existsSync(`${path}-wal`), 'the file is open').to.equal(false);
    });
  });

  describe('reveals no name, tag or SQL in the error for', () => {
    for (const [what, sql] of [
      [
        'a plant that the database rejects',
        `CREATE TRIGGER reject BEFORE INSERT ON plants BEGIN SELECT RAISE(ABORT, 'no ${CANARY}'); END`,
      ],
      ['a dropped table', 'DROP TABLE plants'],
    ] as const) {
      it(what, async () => {
        const path = newFile();
        const repository = await open(path);
        await (await openRaw(path)).exec(sql);
        expectNothingRevealed(await errorOf(repository.add([plant(1n, CANARY, CANARY)])));
      });
    }

    it('an invalid row written by another program', async () => {
      const path = newFile();
      const repository = await open(path);
      await (await openRaw(path)).exec(
        `INSERT INTO plants (id, name, tag) VALUES (1, '${CANARY}' || char(0), '${CANARY}' || char(0))`,
      );
      const error = await catchError(readIds(repository));
      expect(`${error}`).to.equal(
        `StorageUnavailable: a stored row is not a valid plant: name ${NOT_STORABLE}; tag ${NOT_STORABLE}`,
      );
      expectNothingRevealed(error);
      // Only a plant with the same id is affected.
      const [sameId, otherId] = await repository.add([plant(1n, CANARY), plant(2n)]);
      expectNothingRevealed(sameId?.kind === 'rejected' ? sameId.error : undefined);
      expect(otherId).to.deep.equal({ kind: 'added' });
    });
  });
});

function plant(id: bigint, name = `plant ${id}`, tag?: string): Plant {
  return toPlant({ id, name, tag });
}

/** Returns the error that adding a plant throws or reports. */
function errorOf(adding: ReturnType<PlantRepository['add']>): Promise<unknown> {
  return adding.then(
    ([outcome]) => outcome?.kind === 'rejected' && outcome.error,
    (error) => error,
  );
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
