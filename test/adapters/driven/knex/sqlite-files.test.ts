import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  linkSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { expect } from 'chai';
import { after, describe, it } from 'mocha';
import {
  openRepository,
  readPendingMigrations,
  type SqliteOptions,
  sqlite,
  sqliteDatabase,
} from '../../../../adapters/driven/knex/index.js';
import { type PlantRepository, StorageUnavailable } from '../../../../core/index.js';
import type { OpenPlantRepository } from '../../../contract/index.js';
import { catchError } from '../../../support/catch-error.js';
import { toPlant } from '../../../support/plants.js';
import { readPlants } from '../../../support/read-plants.js';
import { SqliteFile } from '../../../support/sqlite-file.js';
import { temporaryFolder } from '../../../support/temporary.js';
import { waitUntil } from '../../../support/wait-until.js';

/** A program that prints the rows of a query. */
const QUERY = `
  import { loadSqliteDriver } from '${new URL('../../../../adapters/driven/knex/sqlite.js', import.meta.url)}';
  const connection = await loadSqliteDriver().open(process.argv[1], 'rw');
  process.stdout.write(JSON.stringify(await connection.all(process.argv[2])));
  await connection.close();`;

/** A program whose repository loses its log or its index before another process writes. */
const DAMAGE = `
  import { spawnSync } from 'node:child_process';
  import { copyFileSync, renameSync, rmSync } from 'node:fs';
  import { setTimeout } from 'node:timers/promises';
  import { openRepository, sqliteDatabase } from '${new URL('../../../../adapters/driven/knex/index.js', import.meta.url)}';
  import { Plant } from '${new URL('../../../../core/index.js', import.meta.url)}';
  const [path, suffix] = process.argv.slice(1);
  const repository = await openRepository(sqliteDatabase({ path, timeoutMs: 1000 }));
  const { plant } = Plant.from({ id: 1n, name: 'one' });
  await repository.add([plant]);
  copyFileSync(path + suffix, path + '.copy');
  rmSync(path + suffix);
  if (suffix === '-wal') renameSync(path + '.copy', path + suffix);
  const runElsewhere = (sql) =>
    spawnSync(process.execPath, ['--input-type=module', '--eval', ${JSON.stringify(QUERY)}, path, sql]);
  runElsewhere('PRAGMA wal_checkpoint');
  runElsewhere("INSERT INTO plants (id, name) VALUES (2, 'two')");
  // Would copy the log if that were safe.
  await repository.ready().catch(() => setTimeout(100));
  runElsewhere("INSERT INTO plants (id, name) VALUES (3, 'three')");
  await repository.close();
  process.stdout.write('closed');
  process.exit();`;

/** Runs a program in a process of its own, and returns its output. */
function run(program: string, ...args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program, ...args]);
  return `${stdout}${stderr}`;
}

describe('The files of a SQLite repository', () => {
  const root = temporaryFolder();
  const toClose: { close(): Promise<void> }[] = [];
  after(() => Promise.all(toClose.map((open) => open.close())));

  const newFolder = () => mkdtempSync(join(root, 'folder-'));
  const newPath = () => join(newFolder(), 'plants.db');

  /** Describes the file, with a timeout that is short, but long enough to open the file on a busy machine. */
  const describeFile = (path: string, options: Partial<SqliteOptions> = {}) =>
    sqliteDatabase({ path, timeoutMs: 1000, ...options });

  /** Opens a repository, and closes it after the tests. */
  async function open(path: string, options?: Partial<SqliteOptions>): Promise<OpenPlantRepository> {
    const repository = await openRepository(describeFile(path, options));
    toClose.push(repository);
    return repository;
  }

  /** Opens a new repository with one plant. */
  async function openWithPlant(path = newPath()) {
    const repository = await open(path);
    await repository.add([plant(1n)]);
    return { path, repository };
  }

  const plant = (id: bigint) => toPlant({ id, name: `plant ${id}` });
  const readIds = async (repository: PlantRepository) => (await readPlants(repository.readAll())).map(({ id }) => id);

  async function expectUnavailable(call: Promise<unknown>, reason: string): Promise<void> {
    expect(await catchError(call))
      .to.be.instanceOf(StorageUnavailable)
      .with.property('message')
      .that.includes(reason);
  }

  const replaceByCopy = (path: string) => {
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
  };
  const move = (path: string) => renameSync(path, `${path}.moved`);
  const moveBack = (path: string) => renameSync(`${path}.moved`, path);
  type Change = (path: string) => void;
  const damages: readonly (readonly [what: string, suffix: string, damage: Change, repair?: Change])[] = [
    ['the database was deleted', '', rmSync],
    ['the database was moved, until it is back', '', move, moveBack],
    ['a copy replaced the database', '', replaceByCopy],
    ['the database was truncated', '', (path) => truncateSync(path)],
    ['the folder was moved', '', (path) => move(dirname(path))],
    ['the write-ahead log was deleted', '-wal', rmSync],
    ['a copy replaced the write-ahead log', '-wal', replaceByCopy],
    ['the write-ahead log was truncated', '-wal', (path) => truncateSync(path)],
    ['the index of the write-ahead log was deleted', '-shm', rmSync],
    ['a copy replaced the index of the write-ahead log', '-shm', replaceByCopy],
  ];
  for (const [what, suffix, damage, repair] of damages) {
    it(`make creates and readiness fail after ${what}`, async () => {
      const { path, repository } = await openWithPlant();
      damage(path + suffix);
      const reason = `${basename(path)}${suffix} was moved, deleted, replaced or truncated; stop all processes`;
      await expectUnavailable(repository.add([plant(2n)]), reason);
      await expectUnavailable(repository.ready(), reason);
      if (repair === undefined) return;
      repair(path);
      await repository.add([plant(2n)]);
      expect(await readIds(repository)).to.deep.equal([1n, 2n]);
    });
  }

  it('are not reopened by each create', async () => {
    const { repository } = await openWithPlant();
    // Always 0 on a system without /proc.
    const countOpenFiles = () =>
      readdir('/proc/self/fd').then(
        ({ length }) => length,
        () => 0,
      );
    const before = await countOpenFiles();
    for (let id = 2n; id < 10n; id++) await repository.add([plant(id)]);
    expect(await countOpenFiles()).to.equal(before);
  });

  for (const suffix of ['-wal', '-shm']) {
    it(`keep the plants in a deleted ${suffix} if the repository is closed`, async () => {
      const { path, repository } = await openWithPlant();
      rmSync(path + suffix);
      await expectUnavailable(repository.add([plant(2n)]), 'was moved');
      const isCopied = async () => (await readFile(path)).includes('plant 1');
      if (suffix === '-wal') await waitUntil('the log was copied', isCopied);
      await repository.close();
      expect(await readIds(await open(path))).to.include(1n);
    });

    it(`cannot be opened while another process uses them without its ${suffix}`, async () => {
      const path = newPath();
      const repository = await open(path);
      rmSync(path + suffix);
      const reason = `plants.db${suffix} is missing, but another process uses the database; stop it first`;
      for (const readOnly of [false, true]) {
        const opening = openRepository(describeFile(path, { readOnly, timeoutMs: 300 }));
        await expectUnavailable(opening, `cannot open sqlite:${path}: ${reason}`);
      }
      await repository.close();
      await open(path);
    });
  }

  for (const suffix of ['-wal', '-shm'])
    it(`keep what another process has written with a new ${suffix} if the process exits after closing the repository`, () => {
      const path = newPath();
      expect(run(DAMAGE, path, suffix)).to.equal('closed');
      expect(run(QUERY, path, 'SELECT id FROM plants')).to.equal('[{"id":1},{"id":2},{"id":3}]');
    });

  for (const write of ['', ' after a write'])
    it(`keep the plants that a truncated -wal no longer has if the repository is closed${write}`, async () => {
      const path = newPath();
      const repository = await open(path);
      const stored = Array.from({ length: 100 }, (_, index) => toPlant({ id: BigInt(index), name: 'x'.repeat(1000) }));
      await repository.add(stored);
      await (await openRepository(describeFile(path))).close();
      await repository.add([plant(-1n)]);
      truncateSync(`${path}-wal`);
      if (write) await expectUnavailable(repository.add([plant(1000n)]), 'truncated');
      await repository.close();
      copyFileSync(path, `${path}.copy`);
      expect(await readIds(await open(`${path}.copy`))).to.deep.equal(stored.map(({ id }) => id));
    });

  describe('through a symbolic link', () => {
    it('make creates fail after the write-ahead log was deleted, even if the link led to a missing file', async () => {
      const [path, link] = [newPath(), newPath()];
      symlinkSync(dirname(path), join(dirname(link), 'folder'));
      symlinkSync(basename(path), join(dirname(path), 'link'));
      symlinkSync('folder/link', link);
      const { repository } = await openWithPlant(link);
      rmSync(`${path}-wal`);
      await expectUnavailable(repository.add([plant(2n)]), 'plants.db-wal was moved');
    });

    it('make creates fail after the link was replaced', async () => {
      const [path, other, link] = [newPath(), newPath(), newPath()];
      await open(other);
      symlinkSync(path, link);
      const repository = await open(link);
      rmSync(link);
      symlinkSync(other, link);
      await expectUnavailable(repository.add([plant(1n)]), 'plants.db was moved');
    });
  });

  describe('cannot be opened', () => {
    const [ownLink, hardLink, textFile] = [newPath(), newPath(), newPath()];
    symlinkSync(ownLink, ownLink);
    writeFileSync(textFile, 'These are plants, but not a database. '.repeat(100));
    writeFileSync(hardLink, '');
    linkSync(hardLink, `${hardLink}.link`);
    for (const [what, path, reason] of [
      ['with a symbolic link to itself', ownLink, 'its symbolic links form a loop'],
      ['with a hard link', hardLink, 'it has more than one name (hard link); delete the others'],
      ['if they are a device', '/dev/null', 'it is a named pipe or a device, not a file'],
      ['if they are a folder', newFolder(), 'it is a directory'],
      ['if they are not a database', textFile, 'it is not a SQLite database'],
    ] as const) {
      it(what, async () => {
        for (const readOnly of [false, true])
          await expectUnavailable(open(path, { readOnly }), `cannot open sqlite:${path}: ${reason}`);
      });
    }

    it('if their folder is missing or a file, or if they are missing and must exist', async () => {
      await expectUnavailable(
        open(join(newFolder(), 'a/b.db')),
        'a/b.db: its directory does not exist; create it first',
      );
      await expectUnavailable(open(join(textFile, 'b.db')), 'b.db: a part of the path is a file, not a directory');
      const path = newPath();
      const database = describeFile(path, { mustExist: true });
      for (const call of [openRepository, readPendingMigrations])
        await expectUnavailable(call(database), `cannot open sqlite:${path}: it does not exist`);
      expect(await readdir(dirname(path))).to.deep.equal([]);
      await (await open(path)).close();
      await (await openRepository(database)).close();
    });
  });

  describe('contain the schema in the database file itself', () => {
    const added = { ...sqlite.migrations, '002_sites': ['CREATE TABLE sites (name TEXT)'] };

    it('after creating and after migrating it', async () => {
      const path = newPath();
      for (const migrations of [sqlite.migrations, added]) {
        const withMigrations = (file: string) => {
          const database = describeFile(file);
          return { ...database, engine: { ...database.engine, migrations } };
        };
        const repository = await openRepository(withMigrations(path));
        // A copy without the log.
        copyFileSync(path, `${path}.copy`);
        expect(await readPendingMigrations(withMigrations(`${path}.copy`))).to.deep.equal([]);
        await repository.close();
      }
    });

    it('once no connection reads an earlier state', async () => {
      const path = newPath();
      const raw = await SqliteFile.create(path);
      toClose.push(raw);
      await raw.exec('PRAGMA journal_mode = WAL; BEGIN; SELECT * FROM sqlite_schema');
      await expectUnavailable(
        open(path, { timeoutMs: 300 }),
        'timed out waiting for a lock held by another process; stop that process, or wait for it',
      );
      await raw.exec('ROLLBACK');
      const repository = await open(path);
      // Once it contains the schema, opening does not wait for a backup.
      await raw.exec('BEGIN; SELECT * FROM sqlite_schema');
      await repository.add([plant(1n)]);
      await open(path, { timeoutMs: 300 });
    });
  });

  it('can be read while they get a write-ahead log', async () => {
    const path = newPath();
    await (await openWithPlant(path)).repository.close();
    const raw = await SqliteFile.open(path);
    await raw.exec('PRAGMA journal_mode = DELETE').finally(() => raw.close());
    const reader = await open(path, { readOnly: true });
    expect(await readdir(dirname(path))).to.deep.equal(['plants.db']);
    await open(path);
    expect(await readIds(reader)).to.deep.equal([1n]);
  });
});
