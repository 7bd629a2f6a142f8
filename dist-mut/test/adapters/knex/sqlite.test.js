import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import sqlite3 from 'sqlite3';
import { openRepository, sqliteDatabase } from '../../../adapters/knex/index.js';
import { PLANT_ID_MAX, PLANT_ID_MIN, Plant, StorageUnavailable, } from '../../../core/index.js';
import { durablePlantRepositoryContract, plantRepositoryOutageContract } from '../../contract/index.js';
import { runContract } from '../../support/run-contract.js';
import { temporaryFolder } from '../../support/temporary.js';
/** Stands in names and tags, and may stand in no error. */
const CANARY = 'canary-4711';
describe('The SQLite repository', () => {
    const folder = temporaryFolder();
    let files = 0;
    const newFile = () => join(folder, `${++files}.db`);
    const toClose = [];
    after(() => Promise.all(toClose.map((open) => open.close())));
    /** A repository that is closed at the end. */
    async function open(path, timeoutMs = 10_000) {
        const plants = await openRepository(sqliteDatabase({ path, timeoutMs }));
        toClose.push(plants);
        return plants;
    }
    /** Another program at the same file. */
    function openRaw(path) {
        const raw = new RawConnection(path);
        toClose.push(raw);
        return raw;
    }
    describe('keeps the contract:', () => {
        let path;
        runContract(durablePlantRepositoryContract, {
            open: () => {
                path = newFile();
                return openRepository(sqliteDatabase({ path, timeoutMs: 10_000 }));
            },
            reopen: () => openRepository(sqliteDatabase({ path, timeoutMs: 10_000 })),
        });
    });
    describe('keeps the contract while another program keeps its file locked:', () => {
        let path;
        runContract(plantRepositoryOutageContract, {
            open: () => {
                path = newFile();
                return openRepository(sqliteDatabase({ path, timeoutMs: 100 }));
            },
            withStorageAway: async (work) => {
                const raw = new RawConnection(path);
                await raw.exec('BEGIN EXCLUSIVE');
                await work().finally(() => raw.close());
            },
        });
    });
    describe('writes a file', () => {
        it('with ids as SQLite integers, exactly', async () => {
            const path = newFile();
            const ids = [PLANT_ID_MIN, -1n, 0n, 2n ** 53n + 1n, PLANT_ID_MAX];
            const plants = await open(path);
            await plants.add(ids.map((id) => plant(id)));
            const rows = await openRaw(path).all('SELECT CAST(id AS TEXT) AS id, typeof(id) AS type FROM plants ORDER BY plants.id');
            expect(rows).to.deep.equal(ids.map((id) => ({ id: `${id}`, type: 'integer' })));
        });
        it('that its owner alone may read, in folders that its owner alone may enter', async () => {
            const path = join(folder, 'new', 'folders', 'plants.db');
            await (await open(path)).add([plant(1n)]);
            const modes = ['', '-wal', '-shm'].map((suffix) => statSync(path + suffix).mode & 0o777);
            expect(modes).to.deep.equal([0o600, 0o600, 0o600]);
            for (const created of [join(folder, 'new'), join(folder, 'new', 'folders')])
                expect(statSync(created).mode & 0o777).to.equal(0o700);
        });
        it('through a write-ahead log', async () => {
            const path = newFile();
            await open(path);
            expect(await openRaw(path).all('PRAGMA journal_mode')).to.deep.equal([{ journal_mode: 'wal' }]);
        });
        it('with a sync at every commit', async () => {
            const path = newFile();
            const plants = await open(path);
            // The pragma belongs to a connection: a trigger looks at it on the one that the repository writes with.
            const raw = openRaw(path);
            await raw.exec(`
        CREATE TABLE seen (synchronous);
        CREATE TRIGGER look AFTER INSERT ON plants
        BEGIN INSERT INTO seen SELECT synchronous FROM pragma_synchronous; END`);
            await plants.add([plant(1n)]);
            expect(await raw.all('SELECT synchronous FROM seen')).to.deep.equal([{ synchronous: 2 }]);
        });
        it('that says whose database it is', async () => {
            const path = newFile();
            await open(path);
            const [row] = await openRaw(path).all('PRAGMA application_id');
            expect(row).to.deep.equal({ application_id: Buffer.from('PLNT').readInt32BE() });
        });
    });
    describe('shares a file', () => {
        it('with another repository: each id goes to one plant', async () => {
            const path = newFile();
            const [one, two] = await Promise.all([open(path), open(path)]);
            const ids = Array.from({ length: 200 }, (_, index) => BigInt(index));
            const outcomes = await Promise.all(ids.flatMap((id) => [one.add([plant(id, 'of one')]), two.add([plant(id, 'of two')])]));
            expect(kinds(outcomes.flat())).to.deep.equal({ added: 200, taken: 200 });
            expect(await idsOf(one)).to.deep.equal(ids);
        });
        it('that is new, with three others that open it at once', async () => {
            const path = newFile();
            const repositories = await Promise.all([open(path), open(path), open(path), open(path)]);
            await Promise.all(repositories.map((plants, index) => plants.add([plant(BigInt(index))])));
            expect(await idsOf(repositories[0])).to.deep.equal([0n, 1n, 2n, 3n]);
        });
        it('with a program that keeps it locked for longer than SQLite itself waits', async () => {
            const path = newFile();
            const plants = await open(path);
            const raw = openRaw(path);
            await raw.exec('BEGIN EXCLUSIVE');
            const adding = plants.add([plant(1n)]);
            await setTimeout(500);
            await raw.exec('ROLLBACK');
            expect(kinds(await adding)).to.deep.equal({ added: 1 });
        });
        it('after a process was killed in the middle of its migration', async () => {
            const path = newFile();
            const killed = spawnSync(process.execPath, ['--input-type=module', '--eval', MIGRATION_THAT_IS_KILLED, path]);
            expect(killed.signal, `${killed.stderr}`).to.equal('SIGKILL');
            expect(killed.stdout.toString()).to.equal('created');
            const plants = await open(path, 1000);
            expect(kinds(await plants.add([plant(1n)]))).to.deep.equal({ added: 1 });
        });
    });
    describe('takes in one batch', () => {
        for (const count of [601, 1000, 1001, 3000]) {
            it(`${count} plants`, async () => {
                const ids = Array.from({ length: count }, (_, index) => BigInt(index));
                const plants = await open(newFile());
                expect(kinds(await plants.add(ids.map((id) => plant(id))))).to.deep.equal({ added: count });
                expect(await idsOf(plants)).to.deep.equal(ids);
            });
        }
        it('999 plants beside one that the database refuses', async () => {
            const path = newFile();
            const plants = await open(path);
            await openRaw(path).exec(POISON);
            const batch = Array.from({ length: 1000 }, (_, index) => plant(BigInt(index), index === 617 ? 'poison' : 'good'));
            const outcomes = await plants.add(batch);
            expect(kinds(outcomes)).to.deep.equal({ added: 999, refused: 1 });
            expect(outcomes[617]?.kind).to.equal('refused');
            expect(await idsOf(plants)).to.deep.equal(batch.map(({ id }) => id).filter((id) => id !== 617n));
        });
        it('only plants that the database refuses, and refuses each', async () => {
            const path = newFile();
            const plants = await open(path);
            await openRaw(path).exec(POISON);
            const outcomes = await plants.add(Array.from({ length: 50 }, (_, index) => plant(BigInt(index), 'poison')));
            expect(kinds(outcomes)).to.deep.equal({ refused: 50 });
        });
    });
    describe('while another program keeps the file locked', () => {
        const path = newFile();
        const timeoutMs = 200;
        const late = Array.from({ length: 20 }, (_, index) => BigInt(index) + 2n);
        let plants;
        let raw;
        before(async () => {
            plants = await open(path, timeoutMs);
            await plants.add([plant(1n)]);
            raw = openRaw(path);
            await raw.exec('BEGIN EXCLUSIVE');
        });
        it('throws StorageUnavailable when its time is up', async () => {
            const start = performance.now();
            const errors = await Promise.all(late.map((id) => errorOf(plants.add([plant(id)]))));
            // One after the other they would take twenty times as long.
            expect(performance.now() - start).to.be.within(timeoutMs / 2, timeoutMs * 10);
            for (const error of errors)
                expect(error).to.be.instanceOf(StorageUnavailable);
        });
        it('cannot be opened, and says why', async () => {
            const error = await errorOf(openRepository(sqliteDatabase({ path, timeoutMs })));
            expect(error).to.be.instanceOf(StorageUnavailable);
            expect(error.message).to.equal(`cannot open the SQLite file ${path}: another process kept it locked for too long`);
        });
        it('loses no plant: they are all added once the lock is gone', async () => {
            await raw.exec('ROLLBACK');
            await plants.add(late.map((id) => plant(id)));
            expect(await idsOf(plants)).to.deep.equal([1n, ...late]);
        });
    });
    describe('cannot be opened, and says so in one sentence:', () => {
        const text = newFile();
        writeFileSync(text, 'These are plants, but not a database. '.repeat(100));
        const aFolder = join(folder, 'folder.db');
        mkdirSync(aFolder);
        for (const [what, path, reason] of [
            ['a file that is no database', text, 'it is not a SQLite database'],
            ['a folder', aFolder, 'it is a folder'],
            ['a path that leads through a file', join(text, 'plants.db'), 'a part of its path is a file, not a folder'],
            ['a path that leads far through a file', join(text, 'a', 'b.db'), 'a part of its path is a file, not a folder'],
        ]) {
            it(what, async () => {
                const error = await errorOf(openRepository(sqliteDatabase({ path, timeoutMs: 1000 })));
                expect(error).to.be.instanceOf(StorageUnavailable);
                expect(error.message).to.equal(`cannot open the SQLite file ${path}: ${reason}`);
            });
        }
        it('files that this user may not open, may not write or may not create', async () => {
            const closed = join(folder, 'closed');
            mkdirSync(closed);
            const [readOnly, unreadable] = [join(closed, 'read-only.db'), join(closed, 'unreadable.db')];
            writeFileSync(readOnly, '', { mode: 0o444 });
            writeFileSync(unreadable, '', { mode: 0o000 });
            chmodSync(folder, 0o755);
            chmodSync(closed, 0o555);
            try {
                for (const path of [readOnly, unreadable, join(closed, 'new.db'), join(closed, 'new', 'new.db')]) {
                    const error = await asOrdinaryUser(() => errorOf(openRepository(sqliteDatabase({ path, timeoutMs: 1000 }))));
                    expect(error).to.be.instanceOf(StorageUnavailable);
                    expect(error.message).to.equal(`cannot open the SQLite file ${path}: this user has no permission to write there`);
                }
            }
            finally {
                chmodSync(closed, 0o755);
            }
        });
    });
    describe('tells no name, no tag and no SQL in an error:', () => {
        const named = (id) => plant(id, CANARY, CANARY);
        it('a plant that the database refuses', async () => {
            const path = newFile();
            const plants = await open(path);
            await openRaw(path).exec(`CREATE TRIGGER refuse BEFORE INSERT ON plants BEGIN SELECT RAISE(ABORT, 'no ${CANARY}'); END`);
            const [outcome] = await plants.add([named(1n)]);
            expectSilence(outcome?.kind === 'refused' ? outcome.error : undefined);
        });
        it('a storage that does not answer', async () => {
            const path = newFile();
            const plants = await open(path, 500);
            await openRaw(path).exec('BEGIN EXCLUSIVE');
            expectSilence(await errorOf(plants.add([named(1n)])));
        });
        it('a plant whose name looks like the frame of a stack', async () => {
            const path = newFile();
            const plants = await open(path, 500);
            await openRaw(path).exec('BEGIN EXCLUSIVE');
            // U+2028 ends a line for a regular expression, and JSON does not escape it.
            const names = ['\n', '\r', '\u2028', '\u2029'].map((lineBreak) => `${lineBreak}    at ${CANARY}`);
            expectSilence(await errorOf(plants.add([plant(1n, names.join(''))])));
        });
        it('a table that is gone', async () => {
            const path = newFile();
            const plants = await open(path);
            await openRaw(path).exec('DROP TABLE plants');
            expectSilence(await errorOf(plants.add([named(1n)])));
        });
        it('a row that another program wrote and that is no plant', async () => {
            const path = newFile();
            const plants = await open(path);
            await openRaw(path).exec(`INSERT INTO plants VALUES (1, '${CANARY}' || char(0), '${CANARY}')`);
            expectSilence(await errorOf(idsOf(plants)));
            // It is the business of nobody but who wants its id.
            const [wanted, neighbour] = await plants.add([named(1n), named(2n)]);
            expectSilence(wanted?.kind === 'refused' ? wanted.error : undefined);
            expect(neighbour).to.deep.equal({ kind: 'added' });
        });
    });
});
/** Refuses every plant named poison. */
const POISON = `
  CREATE TRIGGER poison BEFORE INSERT ON plants WHEN NEW.name = 'poison'
  BEGIN SELECT RAISE(ABORT, 'poisoned'); END`;
const MIGRATION_THAT_IS_KILLED = `
  import { writeSync } from 'node:fs';
  import { openRepository, sqlite, sqliteDatabase } from '${new URL('../../../adapters/knex/index.js', import.meta.url)}';
  await openRepository({
    ...sqliteDatabase({ path: process.argv[1], timeoutMs: 1000 }),
    engine: {
      ...sqlite,
      async createTable(transaction) {
        await sqlite.createTable(transaction);
        writeSync(1, 'created');
        process.kill(process.pid, 'SIGKILL');
        await new Promise(() => {});
      },
    },
  });`;
/** A connection of another program to a SQLite file. */
class RawConnection {
    #database;
    constructor(path) {
        this.#database = new sqlite3.Database(path);
    }
    exec(sql) {
        return new Promise((resolve, reject) => {
            this.#database.exec(sql, (error) => (error ? reject(error) : resolve()));
        });
    }
    all(sql) {
        return new Promise((resolve, reject) => {
            this.#database.all(sql, (error, rows) => (error ? reject(error) : resolve(rows)));
        });
    }
    close() {
        return promisify(this.#database.close.bind(this.#database))();
    }
}
function plant(id, name = `plant ${id}`, tag) {
    const made = Plant.from({ id, name, tag });
    if (made instanceof Plant)
        return made;
    throw new TypeError('no plant');
}
/** How many outcomes of each kind there are. */
function kinds(outcomes) {
    const counts = {};
    for (const { kind } of outcomes)
        counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
}
async function idsOf(plants) {
    const ids = [];
    for await (const batch of plants.readAll()) {
        ids.push(...batch.map(({ id }) => id));
        if (ids.length > 10_000)
            throw new Error('read more plants than any test adds');
    }
    return ids;
}
async function errorOf(work) {
    const [result] = await Promise.allSettled([work]);
    if (result.status === 'rejected' && result.reason instanceof Error)
        return result.reason;
    throw new Error('expected an error, but it did what it was asked');
}
/** Nothing that an error carries, nor any of its causes, tells of values or of SQL. */
function expectSilence(error) {
    expect(error).to.be.instanceOf(Error);
    for (let current = error; current instanceof Error; current = current.cause) {
        const told = [current.message, current.stack, JSON.stringify(Object.entries(current))].join('\n');
        expect(told).to.not.include(CANARY);
        expect(told).to.not.match(/INSERT INTO|SELECT |json_each|RAISE|ON CONFLICT/);
    }
}
/** Does `work` as a user without root's rights, which go through every permission. */
async function asOrdinaryUser(work) {
    const isRoot = process.geteuid?.() === 0;
    const nobody = 65_534;
    if (isRoot)
        process.seteuid?.(nobody);
    try {
        return await work();
    }
    finally {
        if (isRoot)
            process.seteuid?.(0);
    }
}
//# sourceMappingURL=sqlite.test.js.map