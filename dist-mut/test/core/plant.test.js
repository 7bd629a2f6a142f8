import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { isPlantId, PLANT_ID_MAX, PLANT_ID_MIN, Plant } from '../../core/index.js';
const int64 = fc.bigInt({ min: PLANT_ID_MIN, max: PLANT_ID_MAX });
const beyondInt64 = fc.oneof(fc.bigInt({ min: PLANT_ID_MAX + 1n, max: 10n ** 30n }), fc.bigInt({ min: -(10n ** 30n), max: PLANT_ID_MIN - 1n }));
const faithfulText = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', ''));
const loneSurrogate = fc.integer({ min: 0xd800, max: 0xdfff }).map((code) => String.fromCharCode(code));
const unfaithfulText = fc
    .tuple(faithfulText, fc.oneof(fc.constant('\0'), loneSurrogate), faithfulText)
    .map((parts) => parts.join(''));
describe('A plant', () => {
    it('keeps its id, name and tag as they were given', () => {
        fc.assert(fc.property(int64, faithfulText, fc.option(faithfulText, { nil: undefined }), (id, name, tag) => {
            const plant = Plant.from({ id, name, tag });
            expect(plant).to.be.instanceOf(Plant);
            expect({ ...plant }).to.deep.equal({ id, name, tag });
        }));
    });
    it('has no tag where none is given', () => {
        expect(Plant.from({ id: 1n, name: 'Monstera' })).to.have.property('tag', undefined);
    });
    for (const id of [PLANT_ID_MIN, -1n, 0n, 2n ** 53n + 1n, PLANT_ID_MAX]) {
        it(`may have the id ${id}`, () => {
            expect(isPlantId(id)).to.equal(true);
            expect(Plant.from({ id, name: '' })).to.have.property('id', id);
        });
    }
    it('has an id from −2^63 to 2^63 − 1', () => {
        expect([PLANT_ID_MIN, PLANT_ID_MAX]).to.deep.equal([-9223372036854775808n, 9223372036854775807n]);
    });
    for (const id of [PLANT_ID_MIN - 1n, PLANT_ID_MAX + 1n]) {
        it(`may not have the id ${id}`, () => {
            expect(isPlantId(id)).to.equal(false);
            expect(brokenFields({ id, name: '' })).to.deep.equal(['id']);
        });
    }
    it('may not have any id beyond int64', () => {
        fc.assert(fc.property(beyondInt64, (id) => {
            expect(brokenFields({ id, name: '' })).to.deep.equal(['id']);
        }));
    });
    it('may not have U+0000 or a lone surrogate in its name', () => {
        fc.assert(fc.property(unfaithfulText, (name) => {
            expect(brokenFields({ id: 1n, name })).to.deep.equal(['name']);
        }));
    });
    it('may not have U+0000 or a lone surrogate in its tag', () => {
        fc.assert(fc.property(unfaithfulText, (tag) => {
            expect(brokenFields({ id: 1n, name: '', tag })).to.deep.equal(['tag']);
        }));
    });
    it('is told of every rule that it breaks at once, in sentences that name the field', () => {
        expect(Plant.from({ id: 2n ** 63n, name: '\0', tag: '\ud800' })).to.deep.equal([
            { field: 'id', message: 'id must be an integer from -9223372036854775808 to 9223372036854775807' },
            { field: 'name', message: 'name must not contain U+0000 or a lone surrogate' },
            { field: 'tag', message: 'tag must not contain U+0000 or a lone surrogate' },
        ]);
    });
    describe('equals another', () => {
        const monstera = { id: 1n, name: 'Monstera', tag: 'indoor' };
        it('with the same id, name and tag', () => {
            expect(areEqual(monstera, { ...monstera })).to.equal(true);
            expect(areEqual({ id: 1n, name: '' }, { id: 1n, name: '', tag: undefined })).to.equal(true);
        });
        for (const [what, other] of [
            ['another id', { ...monstera, id: 2n }],
            ['another name', { ...monstera, name: 'Ficus' }],
            ['a name in other letter case', { ...monstera, name: 'monstera' }],
            ['a name with a trailing blank', { ...monstera, name: 'Monstera ' }],
            ['another tag', { ...monstera, tag: 'outdoor' }],
            ['an empty tag', { ...monstera, tag: '' }],
            ['no tag', { id: 1n, name: 'Monstera' }],
        ]) {
            it(`but not with ${what}`, () => {
                expect(areEqual(monstera, other)).to.equal(false);
            });
        }
        it('but not where one has no tag and the other an empty one', () => {
            expect(areEqual({ id: 1n, name: 'Aloe' }, { id: 1n, name: 'Aloe', tag: '' })).to.equal(false);
        });
        it('but not where one text is composed and the other is not', () => {
            expect(areEqual({ id: 1n, name: 'é' }, { id: 1n, name: 'e\u0301' })).to.equal(false);
        });
    });
});
function plantOf(candidate) {
    const plant = Plant.from(candidate);
    if (plant instanceof Plant)
        return plant;
    throw new TypeError('no plant');
}
function areEqual(one, other) {
    return plantOf(one).equals(plantOf(other));
}
function brokenFields(candidate) {
    const violations = Plant.from(candidate);
    if (violations instanceof Plant)
        throw new TypeError('a plant');
    return violations.map(({ field }) => field);
}
//# sourceMappingURL=plant.test.js.map