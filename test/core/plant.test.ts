import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import {
  isPlantId,
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  type NewPlant,
  OPTIONAL_TEXTS,
  Plant,
  type PlantResult,
  TEXT_FIELDS,
  type Violation,
} from '../../core/index.js';
import { toPlant } from '../support/plants.js';
import { newPlant, storableText } from '../support/texts.js';

const int64 = fc.bigInt({ min: MIN_PLANT_ID, max: MAX_PLANT_ID });
const storable = storableText();
const loneSurrogate = fc.integer({ min: 0xd800, max: 0xdfff }).map((code) => String.fromCharCode(code));
const unstorable = fc
  .tuple(storable, fc.oneof(fc.constant('\0'), loneSurrogate), storable)
  .map((parts) => parts.join(''));

describe('Plant', () => {
  it('keeps every field exactly, and has the total length of its strings', () => {
    fc.assert(
      fc.property(newPlant(int64), (fields) => {
        const plant = toPlant(fields);
        expect(plant).to.be.instanceOf(Plant);
        expect(plant).to.include(fields);
        expect(Object.keys(plant)).to.have.members(['id', ...TEXT_FIELDS]);
        expect(plant.textLength).to.equal(TEXT_FIELDS.map((field) => fields[field] ?? '').join('').length);
      }),
    );
  });

  it('has ids from -2^63 to 2^63 - 1', () => {
    expect([MIN_PLANT_ID, MAX_PLANT_ID]).to.deep.equal([-9223372036854775808n, 9223372036854775807n]);
    for (const id of [MIN_PLANT_ID, -1n, 0n, 2n ** 53n + 1n, MAX_PLANT_ID]) {
      expect(isPlantId(id)).to.equal(true);
      expect(toPlant({ id, name: '' })).to.include({ id, tag: undefined });
    }
    for (const id of [MIN_PLANT_ID - 1n, MAX_PLANT_ID + 1n, 2n ** 64n, -(10n ** 30n)]) {
      expect(isPlantId(id)).to.equal(false);
      expect(brokenFields({ id, name: '' })).to.deep.equal(['id']);
    }
  });

  for (const field of TEXT_FIELDS) {
    it(`rejects U+0000 and lone surrogates in the ${field}`, () => {
      const isRejected = (text: string) => brokenFields({ id: 1n, name: '', [field]: text }).join() === field;
      fc.assert(fc.property(unstorable, isRejected));
    });
  }

  it('returns every violation, with messages that name the field', () => {
    expect(violations({ id: 2n ** 63n, name: '\0', tag: '\ud800' })).to.deep.equal([
      { field: 'id', rule: 'range', message: 'id must be an integer from -9223372036854775808 to 9223372036854775807' },
      { field: 'name', rule: 'text', message: 'name must not contain U+0000 or a lone surrogate' },
      { field: 'tag', rule: 'text', message: 'tag must not contain U+0000 or a lone surrogate' },
    ] satisfies Violation[]);
  });

  it('rejects ids that are not bigints, fields that are not strings, and values that are not objects', () => {
    const id = { field: 'id', rule: 'type', message: 'id must be a bigint' };
    const text = (field: string) => ({ field, rule: 'type', message: `${field} must be a string` });
    for (const value of [1, '1', null, undefined, Object(1n), Symbol('1')]) {
      expect(isPlantId(value)).to.equal(false);
      expect(violations({ id: value, name: '' })).to.deep.equal([id]);
    }
    for (const value of [1, null, ['x'], new String('x'), Symbol('x')])
      expect(violations({ id: 1n, name: value, tag: value })).to.deep.equal([text('name'), text('tag')]);
    for (const value of [undefined, null, 1, 'x', Symbol('x'), [], {}])
      expect(violations(value)).to.deep.equal([id, text('name')]);
  });

  it('cannot be constructed without Plant.from, not even from JavaScript', () => {
    expect(() => Reflect.construct(Plant, [1, 'Monstera'])).to.throw(TypeError, 'use Plant.from');
  });

  it('is immutable', () => {
    const plant = toPlant({ id: 1n, name: 'Monstera' });
    for (const field of ['id', 'name', 'tag', 'other']) expect(Reflect.set(plant, field, 2)).to.equal(false);
    expect(plant).to.deep.equal(toPlant({ id: 1n, name: 'Monstera' }));
  });

  it('equals a plant with the same id and strings, code point for code point', () => {
    const optional = Object.fromEntries(OPTIONAL_TEXTS.map((field) => [field, 'é indoor']));
    const monstera: NewPlant = { id: 1n, name: 'Monstéra', ...optional };
    expect(areEqual(monstera, { ...monstera })).to.equal(true);
    for (const field of TEXT_FIELDS) {
      const text = `${monstera[field]}`;
      for (const similar of [text.toUpperCase(), `${text} `, text.normalize('NFD'), ''])
        expect(areEqual(monstera, { ...monstera, [field]: similar }), `${field} ${similar}`).to.equal(false);
    }
    expect(areEqual(monstera, { ...monstera, id: 2n })).to.equal(false);
    const untagged = { id: 1n, name: '' };
    expect(areEqual(untagged, { ...untagged, tag: undefined })).to.equal(true);
    expect(areEqual(untagged, { ...untagged, tag: '' })).to.equal(false);
  });
});

function areEqual(one: NewPlant, other: NewPlant): boolean {
  return toPlant(one).equals(toPlant(other));
}

/** Validates a value without type checks, as JavaScript code can. */
function violations(candidate: unknown): readonly Violation[] {
  const result: PlantResult = Reflect.apply(Plant.from, Plant, [candidate]);
  return result.kind === 'invalid' ? result.violations : [];
}

function brokenFields(candidate: NewPlant): string[] {
  return violations(candidate).map(({ field }) => field);
}
