import { copyFileSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { inspect } from 'node:util';
import { expect } from 'chai';
import knexFactory from 'knex';
import { after, describe, it } from 'mocha';
import { openSqlite, type SqliteOptions } from '../../../../adapters/driven/knex/index.js';
import { migrate } from '../../../../adapters/driven/knex/schema.js';
import { MAX_STATEMENTS, sqlite } from '../../../../adapters/driven/knex/sqlite.js';
import { type Plant, type PlantRepository, StorageUnavailable } from '../../../../core/index.js';
import { plantRepositoryContract } from '../../../contract/index.js';
import { catchError } from '../../../support/catch-error.js';
import { sqliteStore } from '../../../support/engines.js';
import { toPlant } from '../../../support/plants.js';
import { readPlants } from '../../../support/read-plants.js';
import { runContract } from '../../../support/run-contract.js';
import { SqliteFile } from '../../../support/sqlite-file.js';
import { temporaryFolder } from '../../../support/temporary.js';
import { waitUntil } from '../../../support/wait-until.js';
import { EARLIER_PLANTS, EARLIER_STORES } from './earlier-store.js';

/** A name and tag that must not appear in any error. */
const CANARY = 'canary-4711';
const ADDED = [{ kind: 'added' }];

describe('The SQLite repository', () => {
  const folder = temporaryFolder();
  let files = 0;
  const newFile = () => join(folder, `${++files}.db`);
  const toClose: { close(): Promise<void> }[] = [];
  after(() => Promise.all(toClose.map((open) => open.close())));

  async function open(path: string, options: Partial<SqliteOptions> = {}) {
    const repository = await openSqlite({ path, timeoutMs: 2000, ...options });
    toClose.push(repository);
    return repository;
  }

  /** Opens the file as another program. */
  async function openRaw(path: string): Promise<SqliteFile> {
    const raw = await SqliteFile.open(path);
    toClose.push(raw);
    return raw;
  }

  async function expectCannotOpen(path: string, reason: RegExp, options?: Partial<SqliteOptions>) {
    const error = await catchError(open(path, options));
    expect(error).to.be.instanceOf(StorageUnavailable);
    const [prefix, actual] = Object(error).message.split(`${path}: `);
    expect(prefix).to.equal('cannot open sqlite:');
    expect(actual).to.match(reason);
  }

  describe('meets the contract:', () => {
    let path: string;
    const harness = (timeoutMs: number) => {
      const reopen = () => openSqlite({ path, timeoutMs });
      const openNew = async () => {
        path = newFile();
        const repository = await reopen();
        await sqliteStore(path).rejectPoison();
        return repository;
      };
      return { open: openNew, reopen, openAnother: reopen, rejectedPlant: () => plant(7_000_001n, 'poison', CANARY) };
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

  it('creates a file for its owner only, which contains the schema by itself', async () => {
    const [path, copy] = [newFile(), newFile()];
    await open(path);
    expect((statSync(path).mode & 0o777).toString(8)).to.equal('600');
    copyFileSync(path, copy);
    expect(await (await openRaw(copy)).all('SELECT id, name, tag FROM plants')).to.deep.equal([]);
  });

  it('opens a file that four repositories create concurrently', async () => {
    const path = newFile();
    const repositories = await Promise.all([open(path), open(path), open(path), open(path)]);
    await Promise.all(repositories.map((repository, index) => repository.add([plant(BigInt(index))])));
    expect(await readIds(repositories[0])).to.deep.equal([0n, 1n, 2n, 3n]);
  });

  it('reports whether its schema was created, migrated or current, and does not open a newer one', async () => {
    const path = newFile();
    const repository = await open(path);
    const knex = knexFactory(repository.knex.client.config);
    const added = { ...sqlite.migrations, '002_sites': ['CREATE TABLE sites (name TEXT)'], '003_none': [] };
    const changed = { ...sqlite, migrations: added };
    const states = [repository, await open(path), await migrate(knex, changed), await migrate(knex, changed)];
    await knex.destroy();
    expect(states.map(({ schema }) => schema)).to.deep.equal(['created', 'current', 'migrated', 'current']);
    await expectCannotOpen(path, /^its schema has 002_sites, 003_none; start a newer version of plant-store$/);
  });

  it('opens and writes to a store of an earlier version', async () => {
    const path = newFile();
    await (await openRaw(path)).exec(EARLIER_STORES.sqlite.join(';'));
    const repository = await open(path);
    expect(repository.schema).not.to.equal('created');
    expect(await readPlants(repository.readAll())).to.deep.equal(EARLIER_PLANTS.map(toPlant));
    expect(await repository.add([plant(1n)])).to.deep.equal(ADDED);
  });

  describe('whose COMMIT of the migrations fails, because another program reads a file without a write-ahead log,', () => {
    const startToRead = async () => {
      const path = newFile();
      const repository = await open(path);
      await repository.close();
      const reader = await openRaw(path);
      await reader.exec('PRAGMA journal_mode = DELETE; BEGIN; SELECT * FROM plants');
      return { path, reader, config: repository.knex.client.config };
    };

    it('reports that it is busy, and opens once the reader has finished', async () => {
      const { path, reader, config } = await startToRead();
      const knex = knexFactory(config);
      expect(sqlite.classify(await catchError(migrate(knex, sqlite)))).to.equal('busy');
      await knex.destroy();
      await reader.exec('COMMIT');
      expect(await (await open(path)).add([plant(1n)])).to.deep.equal(ADDED);
      expect(await reader.all('SELECT id FROM plants')).to.deep.equal([{ id: 1 }]);
    });

    it('does not open after the timeout, and names the reason', async () => {
      const { path } = await startToRead();
      await expectCannotOpen(path, /database is locked$/, { timeoutMs: 500 });
    });
  });

  it('stores what it acknowledges, although a COMMIT of the caller has failed', async () => {
    const path = newFile();
    const repository = await open(path, { timeoutMs: 200 });
    const { knex } = repository;
    await knex.raw('PRAGMA foreign_keys = ON');
    await knex.raw('CREATE TABLE parts (plant REFERENCES plants DEFERRABLE INITIALLY DEFERRED)');
    const failing = knex.transaction((transaction) => transaction('parts').insert({ plant: 1 }));
    expect(await catchError(failing)).to.match(/FOREIGN KEY constraint failed/);
    // Until the pool has closed the connection, whose transaction is still open.
    const isAdded = () =>
      repository.add([plant(2n)]).then(
        () => true,
        () => false,
      );
    await waitUntil('a plant is added', isAdded);
    expect(await (await openRaw(path)).all('SELECT id FROM plants')).to.deep.equal([{ id: 2 }]);
  });

  describe('keeps its statements prepared, and', () => {
    it('adds and reads plants after another program has changed the schema', async () => {
      const path = newFile();
      const repository = await open(path);
      const raw = await openRaw(path);
      expect(await repository.add([plant(1n)])).to.deep.equal(ADDED);
      await raw.exec(
        'CREATE TABLE moved AS SELECT * FROM plants; DROP TABLE plants; ALTER TABLE moved RENAME TO plants',
      );
      expect(await repository.add([plant(2n)])).to.deep.equal(ADDED);
      expect(await readPlants(repository.readAll())).to.deep.equal([plant(1n), plant(2n)]);
    });

    it('lets the caller change and drop the tables of kept statements', async () => {
      const { knex } = await open(newFile());
      const read = () => knex.raw('SELECT * FROM pots');
      await knex.raw('CREATE TABLE pots (id)');
      await knex('pots').insert({ id: 1 });
      expect(await read()).to.deep.equal([{ id: 1 }]);
      await knex.raw('ALTER TABLE pots ADD COLUMN size');
      expect(await read()).to.deep.equal([{ id: 1, size: null }]);
      await knex.raw('DROP TABLE pots');
      expect(await catchError(read())).to.match(/no such table: pots/);
    });

    it('reports a statement that cannot be prepared each time', async () => {
      const { knex } = await open(newFile());
      for (let attempt = 0; attempt < 2; attempt++)
        expect(await catchError(knex.raw('SELECT size'))).to.match(/no such column: size/);
    });

    it('commits other statements after one that failed because another program wrote', async () => {
      const path = newFile();
      const repository = await open(path, { timeoutMs: 100 });
      const raw = await openRaw(path);
      await raw.exec('BEGIN IMMEDIATE');
      expect(await catchError(repository.add([plant(1n)]))).to.be.instanceOf(StorageUnavailable);
      await raw.exec('ROLLBACK');
      // Writes with other statements than `add`.
      await repository.ready();
      await raw.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK');
    });

    it('closes the file, so that SQLite removes the write-ahead log', async () => {
      const path = newFile();
      const repository = await open(path);
      await repository.add([plant(1n)]);
      for (let id = 0; id < MAX_STATEMENTS + 10; id++) await repository.knex.raw(`SELECT ${id}`);
      expect(existsSync(`${path}-wal`)).to.equal(true);
      await repository.close();
      expect(existsSync(`${path}-wal`)).to.equal(false);
    });
  });

  it("waits for another program's lock for longer than SQLite's busy timeout", async () => {
    const path = newFile();
    const repository = await open(path, { timeoutMs: 10_000 });
    const raw = await openRaw(path);
    await raw.exec('BEGIN EXCLUSIVE');
    const adding = repository.add([plant(1n)]);
    await setTimeout(1500);
    await raw.exec('ROLLBACK');
    expect(await adding).to.deep.equal(ADDED);
  });

  it('opened for reading, names the pending migrations and changes nothing, even if the file is missing', async () => {
    const [empty, missing] = [newFile(), newFile()];
    writeFileSync(empty, '');
    for (const path of [empty, missing]) {
      const { schema, pending } = await open(path, { readOnly: true });
      expect({ schema, pending }).to.deep.equal({ schema: 'missing', pending: Object.keys(sqlite.migrations) });
    }
    expect(statSync(empty).size).to.equal(0);
    expect(existsSync(missing)).to.equal(false);
  });

  describe('is ready', () => {
    it('after a start or a failed add, only once a write has succeeded, which stores no plant', async () => {
      const path = newFile();
      const repository = await open(path, { timeoutMs: 100 });
      const raw = await openRaw(path);
      const isReady = () =>
        repository.ready().then(
          () => true,
          () => false,
        );
      await raw.exec('BEGIN IMMEDIATE');
      expect(await isReady()).to.equal(false);
      await raw.exec('ROLLBACK');
      expect(await isReady()).to.equal(true);
      await raw.exec('BEGIN IMMEDIATE');
      expect(await isReady(), 'without a write').to.equal(true);
      expect(await catchError(repository.add([plant(1n)]))).to.be.instanceOf(StorageUnavailable);
      expect(await isReady()).to.equal(false);
      await raw.exec('ROLLBACK');
      expect(await isReady()).to.equal(true);
      expect(await readIds(repository)).to.deep.equal([]);
    });

    it('even if a trigger rejects the row of its probe', async () => {
      const path = newFile();
      const repository = await open(path);
      await (await openRaw(path)).exec(
        `CREATE TRIGGER reject BEFORE INSERT ON plants BEGIN SELECT RAISE(ABORT, 'no'); END`,
      );
      await repository.ready();
    });

    it('only while the table and its columns are there; otherwise rejects creates, and cannot be opened', async () => {
      const path = newFile();
      const repository = await open(path);
      const raw = await openRaw(path);
      for (const [damage, repair, reason] of [
        ['RENAME TO moved', 'ALTER TABLE moved RENAME TO plants', 'no such table: plants'],
        ['RENAME tag TO kind', 'ALTER TABLE plants RENAME kind TO tag', 'no such column: tag'],
      ] as const) {
        await raw.exec(`ALTER TABLE plants ${damage}`);
        const error = await catchError(repository.add([plant(1n, CANARY, CANARY)]));
        expect(error).to.be.instanceOf(StorageUnavailable);
        expectNothingRevealed(error);
        expect(await catchError(repository.ready())).to.be.instanceOf(StorageUnavailable);
        const message = RegExp(`^cannot read the table plants: (SQLITE_ERROR: )?${reason}$`);
        for (const readOnly of [false, true]) await expectCannotOpen(path, message, { readOnly });
        await raw.exec(repair);
        await repository.ready();
      }
      expect(await repository.add([plant(1n)])).to.deep.equal(ADDED);
    });
  });

  describe('reports in one line that it cannot open', () => {
    it('a missing folder', () =>
      expectCannotOpen(join(folder, 'no/x.db'), /^the folder .*no is missing or not writable/));

    it('a missing file that must exist', () => expectCannotOpen(newFile(), /^it does not exist$/, { mustExist: true }));

    it('a file that is no database', async () => {
      const path = newFile();
      writeFileSync(path, 'x'.repeat(1000));
      await expectCannotOpen(path, /file is not a database$/);
    });
  });

  it('rejects an invalid row written by another program, which affects only plants with its id', async () => {
    const path = newFile();
    const repository = await open(path);
    await (await openRaw(path)).exec(`CREATE TABLE loose AS SELECT * FROM plants; DROP TABLE plants;
      ALTER TABLE loose RENAME TO plants; CREATE UNIQUE INDEX plants_id ON plants (id);
      INSERT INTO plants (id, name, tag) VALUES (1, NULL, '${CANARY}')`);
    const error = await catchError(readIds(repository));
    expect(error).to.be.instanceOf(StorageUnavailable);
    expectNothingRevealed(error);
    const [sameId, otherId] = await repository.add([plant(1n, CANARY), plant(2n)]);
    expectNothingRevealed(sameId?.kind === 'rejected' ? sameId.error : undefined);
    expect(otherId).to.deep.equal({ kind: 'added' });
  });
});

function plant(id: bigint, name = `plant ${id}`, tag?: string): Plant {
  return toPlant({ id, name, tag });
}

async function readIds(repository: PlantRepository): Promise<bigint[]> {
  return (await readPlants(repository.readAll())).map(({ id }) => id);
}

/** Asserts that an error and its cause contain no values and no SQL. */
function expectNothingRevealed(error: unknown): void {
  expect(error).to.be.instanceOf(Error);
  expect(inspect(error, { showHidden: true }))
    .to.not.include(CANARY)
    .and.not.match(/INSERT INTO|SELECT |json_each|RAISE|ON CONFLICT/);
}
