import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { BatchingPlantRepository } from '../../../adapters/batching/index.js';
import { openRepository, sqliteDatabase } from '../../../adapters/knex/index.js';
import { MemoryPlantRepository } from '../../../adapters/memory/index.js';
import { Plant, PlantRefused, StorageUnavailable } from '../../../core/index.js';
import { durablePlantRepositoryContract, plantRepositoryContract } from '../../contract/index.js';
import { runContract } from '../../support/run-contract.js';
import { temporaryFolder } from '../../support/temporary.js';
describe('The batching repository', () => {
    describe('around memory keeps the contract:', () => {
        runContract(plantRepositoryContract, {
            open: async () => new BatchingPlantRepository(new MemoryPlantRepository()),
        });
    });
    describe('with small batches, several at once, keeps the contract:', () => {
        runContract(plantRepositoryContract, {
            open: async () => new BatchingPlantRepository(new MemoryPlantRepository(), { writesMax: 3, batchRowsMax: 2, batchBytesMax: 16 }),
        });
    });
    describe('around SQLite keeps the contract:', () => {
        const folder = temporaryFolder();
        let files = 0;
        const open = async () => new BatchingPlantRepository(await openRepository(sqliteDatabase({ path: join(folder, `${files}.db`), timeoutMs: 10_000 })));
        runContract(durablePlantRepositoryContract, {
            open: () => {
                files++;
                return open();
            },
            reopen: open,
        });
    });
    describe('joins', () => {
        it('what arrives in one turn into one write', async () => {
            const { plants, writes } = observed();
            await Promise.all([1n, 2n, 3n].map((id) => plants.add([plant(id)])));
            expect(writes()).to.deep.equal([[1n, 2n, 3n]]);
        });
        it('what arrives during a write into the next one, in the order of arrival', async () => {
            const { plants, writes, storage } = observed();
            const first = plants.add([plant(1n)]);
            await storage.isWriting();
            const others = [4n, 2n, 3n].map((id) => plants.add([plant(id)]));
            storage.go();
            await Promise.all([first, ...others]);
            expect(writes()).to.deep.equal([[1n], [4n, 2n, 3n]]);
        });
        it('no more rows than a batch may hold, however many wait', async () => {
            const { plants, writes } = observed({ batchRowsMax: 2 });
            await Promise.all([1n, 2n, 3n, 4n, 5n].map((id) => plants.add([plant(id)])));
            expect(writes()).to.deep.equal([[1n, 2n], [3n, 4n], [5n]]);
        });
        it('no more bytes than a batch may hold, but one plant of any size', async () => {
            const { plants, writes } = observed({ batchBytesMax: 8 });
            const named = (id, length) => plants.add([plant(id, 'n'.repeat(length))]);
            await Promise.all([named(1n, 2), named(2n, 2), named(3n, 1), named(4n, 100), named(5n, 1)]);
            expect(writes()).to.deep.equal([[1n, 2n], [3n], [4n], [5n]]);
        });
        it('the plants of one call into one write, also where they are more than a batch may hold', async () => {
            const { plants, writes } = observed({ batchRowsMax: 2 });
            await Promise.all([plants.add([plant(1n)]), plants.add([plant(2n), plant(3n), plant(4n)])]);
            expect(writes()).to.deep.equal([[1n], [2n, 3n, 4n]]);
        });
        it('nothing where as many writes may run side by side as there are calls', async () => {
            const { plants, storage } = observed({ writesMax: 2, batchRowsMax: 1 });
            const calls = [1n, 2n, 3n].map((id) => plants.add([plant(id)]));
            await storage.isWriting();
            expect(storage.underWay).to.equal(2);
            storage.go();
            await Promise.all(calls);
            expect(storage.mostUnderWay).to.equal(2);
        });
    });
    describe('answers each call', () => {
        it('only when the write that holds its plants is durable', async () => {
            const { plants, storage } = observed();
            let isAnswered = false;
            const first = plants.add([plant(1n)]).then(() => (isAnswered = true));
            await storage.isWriting();
            const second = plants.add([plant(2n)]);
            expect(isAnswered).to.equal(false);
            storage.go();
            await Promise.all([first, second]);
        });
        it('with the outcomes of its own plants', async () => {
            const { plants } = observed();
            await plants.add([plant(1n), plant(3n)]);
            const answers = await Promise.all([
                plants.add([plant(3n), plant(4n)]),
                plants.add([]),
                plants.add([plant(5n), plant(1n), plant(6n)]),
            ]);
            expect(answers.map(kinds)).to.deep.equal([['taken', 'added'], [], ['added', 'taken', 'added']]);
        });
        it('of one id that two calls bring together, one with added and the other with its plant', async () => {
            const { plants } = observed();
            const [first, second] = await Promise.all([plants.add([plant(1n, 'one')]), plants.add([plant(1n, 'two')])]);
            expect(first).to.deep.equal([{ kind: 'added' }]);
            expect(second).to.deep.equal([{ kind: 'taken', holder: plant(1n, 'one') }]);
        });
        it('whose plant the storage refuses alone with that', async () => {
            const { plants } = observed();
            const answers = await Promise.all([1n, 2n, 3n].map((id) => plants.add([plant(id, id === 2n ? 'poison' : 'ok')])));
            expect(answers.flatMap(kinds)).to.deep.equal(['added', 'refused', 'added']);
        });
        it('of a write that failed with why, and those of the next one as if nothing had been', async () => {
            const { plants, storage } = observed();
            storage.failNext(new StorageUnavailable('it is away'));
            const calls = [1n, 2n].map((id) => plants.add([plant(id)]));
            for (const call of calls) {
                const error = await call.then(() => undefined, (reason) => reason);
                expect(error).to.be.instanceOf(StorageUnavailable).with.property('message', 'it is away');
            }
            expect(await plants.add([plant(1n)])).to.deep.equal([{ kind: 'added' }]);
        });
    });
    describe('where too much waits', () => {
        for (const [what, limits] of [
            ['rows', { waitingRowsMax: 2 }],
            ['bytes', { waitingBytesMax: 8 }],
        ]) {
            it(`refuses more at once (${what}), and takes it when there is room again`, async () => {
                const { plants, storage, writes } = observed(limits);
                const writing = plants.add([plant(1n, 'ab')]);
                await storage.isWriting();
                const waiting = [2n, 3n].map((id) => plants.add([plant(id, 'ab')]));
                const refused = await plants.add([plant(4n, 'ab')]).catch((error) => error);
                expect(refused).to.be.instanceOf(StorageUnavailable);
                storage.go();
                await Promise.all([writing, ...waiting]);
                await plants.add([plant(4n, 'ab')]);
                expect(writes()).to.deep.equal([[1n], [2n, 3n], [4n]]);
            });
        }
    });
    it('when it is closed, writes what waits before it closes the other', async () => {
        const { plants, storage, writes } = observed({ batchRowsMax: 1 });
        const calls = [1n, 2n, 3n].map((id) => plants.add([plant(id)]));
        const closed = plants.close();
        expect(await plants.add([plant(4n)]).catch((error) => error)).to.be.instanceOf(StorageUnavailable);
        storage.go();
        await Promise.all([...calls, closed]);
        expect(writes()).to.deep.equal([[1n], [2n], [3n]]);
        expect(await storage.ready().catch((error) => error)).to.be.instanceOf(StorageUnavailable);
    });
});
/** A batching repository, and what it does to the one behind it. */
function observed(limits = {}) {
    const storage = new ObservedRepository();
    return { plants: new BatchingPlantRepository(storage, limits), storage, writes: () => storage.writes };
}
/** Keeps plants in memory and the ids of each write. The first writes go on at {@link go} where somebody waits for them. */
class ObservedRepository extends MemoryPlantRepository {
    writes = [];
    underWay = 0;
    mostUnderWay = 0;
    #failure;
    #gate = Promise.resolve();
    go = () => { };
    #announce = () => { };
    /** Holds the next writes back until {@link go}, and resolves when the first of them is under way. */
    isWriting() {
        this.#gate = new Promise((go) => {
            this.go = go;
        });
        return new Promise((announce) => {
            this.#announce = announce;
        });
    }
    failNext(error) {
        this.#failure = error;
    }
    async add(plants) {
        this.writes.push(plants.map(({ id }) => id));
        this.underWay++;
        this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay);
        // All writes that may begin have begun when this is heard.
        queueMicrotask(this.#announce);
        try {
            await this.#gate;
            const failure = this.#failure;
            this.#failure = undefined;
            if (failure)
                throw failure;
            const outcomes = [];
            for (const one of plants) {
                if (one.name === 'poison')
                    outcomes.push({ kind: 'refused', error: new PlantRefused('poison') });
                else
                    outcomes.push(...(await super.add([one])));
            }
            return outcomes;
        }
        finally {
            this.underWay--;
        }
    }
}
function plant(id, name = '') {
    const made = Plant.from({ id, name });
    if (made instanceof Plant)
        return made;
    throw new TypeError('no plant');
}
function kinds(outcomes) {
    return outcomes.map(({ kind }) => kind);
}
//# sourceMappingURL=batching-plant-repository.test.js.map