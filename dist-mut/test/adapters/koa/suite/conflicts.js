import { expect } from 'chai';
import { describe, it } from 'mocha';
import { StorageUnavailable } from '../../../../core/index.js';
import { create, newPlant, sharedService, startInTest, stored, verdict, withAdd } from '../support.js';
const DIFFERENT = [
    ['name', { name: 'a' }, { name: 'b' }],
    ['letter case of name', { name: 'a' }, { name: 'A' }],
    ['accent of name', { name: 'e' }, { name: 'é' }],
    ['Unicode form of name', { name: '\u00e9' }, { name: 'e\u0301' }],
    ['trailing blank of name', { name: 'a' }, { name: 'a ' }],
    ['byte order mark of name', { name: 'a' }, { name: '\ufeffa' }],
    ['tag', { tag: 'a' }, { tag: 'b' }],
    ['a missing and an empty tag', {}, { tag: '' }],
    ['an empty and a missing tag', { tag: '' }, {}],
    ['name and tag in each other’s place', { name: 'a', tag: 'b' }, { name: 'b', tag: 'a' }],
];
/** An id names one plant for ever. */
export function conflicts(start) {
    describe('taken ids', () => {
        const service = sharedService(start);
        const startOne = startInTest(start);
        let id = 5_000_000;
        const send = (fields) => create(service(), JSON.stringify({ id, name: 'x', ...fields }));
        for (const [what, first, second] of DIFFERENT) {
            it(`40901: the plants differ in ${what}`, async () => {
                id++;
                expect(verdict(await send(first))).to.equal(200);
                expect(verdict(await send(second))).to.equal(40901);
            });
        }
        for (const [what, fields] of Object.entries({
            'without tag': {},
            'with an empty tag': { tag: '' },
            'with a tag': { tag: 'a' },
        })) {
            it(`40902: the very same plant ${what} is already stored`, async () => {
                id++;
                expect(verdict(await send(fields))).to.equal(200);
                expect(verdict(await send({ ...fields, unknown: 1 }))).to.equal(40902);
            });
        }
        it('40902: the same id in another spelling', async () => {
            expect(verdict(await create(service(), '{"id":4000000,"name":"x"}'))).to.equal(200);
            expect(verdict(await create(service(), '{"name":"x","id":4.0e6}'))).to.equal(40902);
        });
        it('neighbours beyond 2^53 are different ids', async () => {
            for (const neighbour of ['9007199254740992', '9007199254740993', '9007199254740994']) {
                expect(verdict(await create(service(), `{"id":${neighbour},"name":"x"}`)), neighbour).to.equal(200);
            }
        });
        it('changes nothing of the plant that holds the id', async () => {
            const one = await startOne();
            for (const name of ['first', 'second'])
                await create(one, JSON.stringify({ id: 1, name, tag: name }));
            expect(await stored(one)).to.deep.equal([{ id: 1n, name: 'first', tag: 'first' }]);
        });
        it('of many concurrent creates of one id exactly one is created, and that one is stored', async () => {
            const one = await startOne();
            const names = Array.from({ length: 30 }, (_, index) => `plant ${index}`);
            const verdicts = (await Promise.all(names.map((name) => create(one, JSON.stringify({ id: 1, name }))))).map(verdict);
            const winner = names[verdicts.indexOf(200)];
            expect(verdicts.toSorted()).to.deep.equal([200, ...Array(29).fill(40901)]);
            expect(await stored(one)).to.deep.equal([{ id: 1n, name: winner, tag: undefined }]);
        });
        it('of many concurrent creates of one plant exactly one is created', async () => {
            const plant = newPlant();
            const answers = await Promise.all(Array.from({ length: 30 }, () => create(service(), plant)));
            expect(answers.map(verdict).toSorted()).to.deep.equal([200, ...Array(29).fill(40902)]);
        });
        it('tells a client that retries after a lost outcome that its plant is stored', async () => {
            let times = 0;
            const losingFirst = withAdd(async (plants, repository) => {
                const outcomes = await repository.add(plants);
                if (++times === 1)
                    throw new StorageUnavailable('the outcome was lost');
                return outcomes;
            });
            const one = await startOne({}, losingFirst);
            const plant = newPlant();
            expect(verdict(await create(one, plant))).to.equal(50301);
            expect(verdict(await create(one, plant))).to.equal(40902);
        });
    });
}
//# sourceMappingURL=conflicts.js.map