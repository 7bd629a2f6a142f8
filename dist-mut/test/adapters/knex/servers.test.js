import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { mysqlDatabase, openRepository, pendingMigrations, postgresDatabase, } from '../../../adapters/knex/index.js';
import { CreatePlant, Plant, StorageUnavailable } from '../../../core/index.js';
import { durablePlantRepositoryContract, plantRepositoryOutageContract } from '../../contract/index.js';
import { databasesOn, mariadbServer, postgresServer } from '../../support/database-servers.js';
import { Line } from '../../support/line.js';
import { runContract } from '../../support/run-contract.js';
/** Stands in names and tags, and may stand in no error. */
const CANARY = 'canary-4711';
const engines = [
    {
        server: postgresServer,
        at: (url, warn) => postgresDatabase({ url, timeoutMs: 10_000, warn }),
        poison: ["ALTER TABLE plants ADD CHECK (name <> 'poison')"],
    },
    {
        server: mariadbServer,
        at: (url, warn) => mysqlDatabase({ url, timeoutMs: 10_000, warn }),
        poison: ["ALTER TABLE plants ADD CHECK (name <> 'poison')"],
    },
];
for (const { server, at, poison } of engines) {
    describe(`The repository on ${server.name}`, () => {
        const databases = databasesOn(server);
        const toClose = [];
        after(() => Promise.all(toClose.map((plants) => plants.close())));
        const open = async (url, warn) => {
            const plants = await openRepository(at(url, warn));
            toClose.push(plants);
            return plants;
        };
        describe('keeps the contract:', () => {
            let url;
            runContract(durablePlantRepositoryContract, {
                open: async () => {
                    url = await databases.create();
                    return openRepository(at(url));
                },
                reopen: () => openRepository(at(url)),
            });
        });
        describe('keeps the contract while the server cannot be reached:', () => {
            let line;
            before(async () => {
                line = await Line.to(server.url, server.client === 'pg' ? 5432 : 3306);
            });
            after(() => line.end());
            runContract(plantRepositoryOutageContract, {
                open: async () => openRepository(at(line.urlOf(await databases.create()))),
                withStorageAway: async (work) => {
                    await line.refuse();
                    await work().finally(() => line.mend());
                },
            });
        });
        it('keeps names of 1 MiB, hundreds of them in one call', async () => {
            const plants = await open(await databases.create());
            const name = '🌱'.repeat(256 * 1024);
            const many = Array.from({ length: 40 }, (_, id) => plant({ id: BigInt(id), name: `${id}${name}` }));
            expect((await plants.add(many)).every(({ kind }) => kind === 'added')).to.equal(true);
            let id = 0;
            for await (const page of plants.readAll()) {
                expect(page.length, 'a page is bounded in bytes').to.be.below(10);
                for (const read of page)
                    expect(read.name === `${id++}${name}`).to.equal(true);
            }
            expect(id).to.equal(40);
        });
        it('tells texts apart that collations call equal', async () => {
            const createPlant = new CreatePlant(await open(await databases.create()));
            const names = ['a', 'A', 'a ', 'á', 'a\u0301', 'ß', 'ss'];
            await createPlant.executeAll(names.map((name, id) => ({ id: BigInt(id), name })));
            for (const [id, stored] of names.entries()) {
                for (const name of names) {
                    const { kind } = await createPlant.execute({ id: BigInt(id), name });
                    expect(kind, JSON.stringify([stored, name])).to.equal(name === stored ? 'already-stored' : 'id-taken');
                }
            }
        });
        it('three instances come up together on an empty database', async () => {
            const url = await databases.create();
            const instances = await Promise.all([open(url), open(url), open(url)]);
            expect((await instances[0].add([plant({ id: 1n, name: 'x' })])).map(({ kind }) => kind)).to.deep.equal(['added']);
            expect((await instances[2].add([plant({ id: 1n, name: 'x' })])).map(({ kind }) => kind)).to.deep.equal(['taken']);
            expect(await pendingMigrations(at(url))).to.deep.equal([]);
        });
        it('of a hundred creates of one id through three instances one makes the plant, the others are told apart', async () => {
            const url = await databases.create();
            const useCases = (await Promise.all([open(url), open(url), open(url)])).map((plants) => new CreatePlant(plants));
            const kinds = await Promise.all(Array.from({ length: 102 }, async (_, turn) => {
                const name = turn % 2 === 0 ? 'even' : 'odd';
                const outcome = await useCases[turn % 3]?.execute({ id: 7n, name });
                return { name, kind: outcome?.kind };
            }));
            const winner = kinds.find(({ kind }) => kind === 'created')?.name;
            expect(kinds.filter(({ kind }) => kind === 'created')).to.have.length(1);
            for (const { name, kind } of kinds.filter((outcome) => outcome.kind !== 'created')) {
                expect(kind).to.equal(name === winner ? 'already-stored' : 'id-taken');
            }
        });
        it('overlapping batches of three instances give each id to one plant, whatever their order', async () => {
            const url = await databases.create();
            const instances = await Promise.all([open(url), open(url), open(url)]);
            const ids = Array.from({ length: 500 }, (_, id) => BigInt(id));
            const added = await Promise.all(Array.from({ length: 12 }, async (_, turn) => {
                const order = turn % 2 === 0 ? ids : ids.toReversed();
                const outcomes = await instances[turn % 3]?.add(order.map((id) => plant({ id, name: `${turn}` })));
                return outcomes?.filter(({ kind }) => kind === 'added').length ?? 0;
            }));
            expect(added.reduce((sum, count) => sum + count, 0)).to.equal(500);
        });
        it('a plant that the engine refuses is refused alone, in silence', async () => {
            const url = await databases.create();
            const plants = await open(url);
            for (const statement of poison)
                await databases.connect(url).raw(statement);
            const many = Array.from({ length: 100 }, (_, id) => plant({ id: BigInt(id), name: id === 42 ? 'poison' : `fine ${id}`, tag: CANARY }));
            const outcomes = await plants.add(many);
            expect(outcomes.filter(({ kind }) => kind === 'added')).to.have.length(99);
            const refused = outcomes[42];
            expect(refused?.kind).to.equal('refused');
            expect(everythingOf(refused?.kind === 'refused' ? refused.error : undefined)).to.not.include(CANARY);
        });
        it('an instance that finds a schema newer than itself says so', async () => {
            const url = await databases.create();
            await (await openRepository(at(url))).close();
            await databases.connect(url)('plant_store_migrations').insert({ name: '999_future', batch: 2 });
            const error = await openRepository(at(url)).catch((reason) => reason);
            expect(error).to.be.instanceOf(StorageUnavailable);
            expect(`${error}`).to.match(/its schema is newer than this version of plant-store \(it has 999_future\)/);
        });
        it('says in a sentence what it cannot open, without a password', async () => {
            const broken = new URL(server.url);
            broken.pathname = '/no_such_database';
            broken.password = CANARY;
            const missing = await openRepository(at(broken.href)).catch((reason) => reason);
            expect(missing).to.be.instanceOf(StorageUnavailable);
            expect(everythingOf(missing)).to.not.include(CANARY);
            broken.port = '1';
            expect(`${await openRepository(at(broken.href)).catch((reason) => reason)}`).to.match(/^StorageUnavailable: cannot open \w+:\/\/[^@]*: no server listens there$/);
        });
    });
}
describe('The repository on PostgreSQL', () => {
    const databases = databasesOn(postgresServer);
    it('warns of a server that acknowledges before it syncs, and names the setting', async () => {
        const url = new URL(await databases.create());
        url.searchParams.set('options', `${url.searchParams.get('options')} -c synchronous_commit=off`);
        const warnings = [];
        await (await openRepository(postgresDatabase({ url: url.href, timeoutMs: 10_000, warn: (text) => warnings.push(text) }))).close();
        expect(warnings.join()).to.match(/synchronous_commit=off/);
    });
});
describe('The repository on MariaDB', () => {
    const databases = databasesOn(mariadbServer);
    it('warns of a server that acknowledges before it syncs, and names the setting', async () => {
        const url = await databases.create();
        const admin = databases.connect();
        const warnings = [];
        await admin.raw('SET GLOBAL innodb_flush_log_at_trx_commit = 2');
        try {
            await (await openRepository(mysqlDatabase({ url, timeoutMs: 10_000, warn: (text) => warnings.push(text) }))).close();
        }
        finally {
            await admin.raw('SET GLOBAL innodb_flush_log_at_trx_commit = 1');
        }
        expect(warnings.join()).to.match(/innodb_flush_log_at_trx_commit=2/);
    });
});
function plant(candidate) {
    const made = Plant.from(candidate);
    if (made instanceof Plant)
        return made;
    throw new TypeError(JSON.stringify(made));
}
/** All that an error could tell. */
function everythingOf(error) {
    if (!(error instanceof Error))
        return `${error}`;
    return [error.message, error.stack, JSON.stringify(error), everythingOf(error.cause)].join('\n');
}
//# sourceMappingURL=servers.test.js.map