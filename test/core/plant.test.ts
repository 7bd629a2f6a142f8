import { MAX_PLANT_ID, MIN_PLANT_ID, type NewPlant, Plant, type PlantResult } from '@plant-store/core';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { toPlant } from '../support/plants.js';
import { newPlant, storableText } from '../support/texts.js';

const MONSTERA = { id: 1n, name: 'Monstéra', tag: 'é indoor' } satisfies Required<NewPlant>;
/** Validates a value without type checks, as JavaScript code can. */
function violations(candidate: unknown) {
  const result: PlantResult = Reflect.apply(Plant.from, Plant, [candidate]);
  return result.kind === 'invalid' ? result.violations : [];
}

describe('Plant', () => {
  it('keeps every field exactly', () => {
    fc.assert(
      fc.property(newPlant(fc.bigInt({ min: MIN_PLANT_ID, max: MAX_PLANT_ID })), (fields) => {
        expect(toPlant(fields)).to.be.instanceOf(Plant).and.to.include(fields);
      }),
    );
  });

  it('equals only a plant with the same fields', () => {
    expect(toPlant(MONSTERA).equals(toPlant(MONSTERA))).to.equal(true);
    const differences = {
      id: [0n, -1n, 2n ** 53n + 1n],
      name: ['MONSTÉRA', 'Monstéra ', 'Monste\u0301ra', ''],
      tag: ['É INDOOR', 'é indoor ', 'e\u0301 indoor', '', undefined],
    } satisfies Record<keyof NewPlant, readonly unknown[]>;
    for (const [field, values] of Object.entries(differences))
      for (const value of values)
        expect(toPlant(MONSTERA).equals(toPlant({ ...MONSTERA, [field]: value })), `${field} ${value}`).to.equal(false);
  });

  it('has ids from -2^63 to 2^63 - 1', () => {
    expect([MIN_PLANT_ID, MAX_PLANT_ID]).to.deep.equal([-9223372036854775808n, 9223372036854775807n]);
    for (const id of [MIN_PLANT_ID, MAX_PLANT_ID]) expect(violations({ ...MONSTERA, id })).to.deep.equal([]);
    for (const id of [MIN_PLANT_ID - 1n, MAX_PLANT_ID + 1n])
      expect(violations({ ...MONSTERA, id })).to.deep.equal([{ field: 'id', rule: 'range' }]);
  });

  it('rejects U+0000 and lone surrogates in the name and in the tag', () => {
    const loneSurrogate = fc.integer({ min: 0xd800, max: 0xdfff }).map((code) => String.fromCharCode(code));
    const parts = fc.tuple(storableText(), fc.oneof(fc.constant('\0'), loneSurrogate), storableText());
    fc.assert(
      fc.property(fc.constantFrom('name', 'tag'), parts, (field, text) => {
        expect(violations({ ...MONSTERA, [field]: text.join('') })).to.deep.equal([{ field, rule: 'text' }]);
      }),
    );
  });

  it('returns every violation, also of the types, which JavaScript code can break', () => {
    for (const [candidate, ...expected] of [
      [{ id: 2n ** 63n, name: '\0', tag: '\ud800' }, 'id: range', 'name: text', 'tag: text'],
      [{ id: null, name: null, tag: null }, 'id: type', 'name: type', 'tag: type'],
      [{ id: 1, name: Object('x'), tag: 1 }, 'id: type', 'name: type', 'tag: type'],
      [{}, 'id: type', 'name: type'],
    ])
      expect(violations(candidate).map(({ field, rule }) => `${field}: ${rule}`)).to.deep.equal(expected);
  });

  it('is immutable', () => {
    const plant = toPlant(MONSTERA);
    for (const field of ['id', 'other']) expect(Reflect.set(plant, field, 2)).to.equal(false);
    expect({ ...plant }).to.deep.equal(MONSTERA);
  });
});
