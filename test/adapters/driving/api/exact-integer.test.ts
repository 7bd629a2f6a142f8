import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { findNumberText, parseExactInteger } from '../../../../adapters/driving/api/exact-integer.js';

const MEBIBYTE = 2 ** 20;

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

/** Notation of an integer in JSON: its point is moved by `exponent` digits, and zeros are added. */
const notation = fc.record({
  exponent: fc.integer({ min: -40, max: 40 }),
  e: fc.constantFrom('e', 'E'),
  sign: fc.constantFrom('', '+'),
  exponentZeros: fc.integer({ min: 0, max: 3 }),
  fractionZeros: fc.integer({ min: 0, max: 30 }),
});

function format(integer: bigint, { exponent, e, sign, exponentZeros, fractionZeros }: Notation): string {
  const digits = `${integer < 0n ? -integer : integer}`;
  const moved =
    exponent > 0 ? digits.padStart(exponent + 1, '0') : digits + (integer === 0n ? '' : '0'.repeat(-exponent));
  const point = exponent > 0 ? moved.length - exponent : moved.length;
  const fraction = moved.slice(point) + '0'.repeat(fractionZeros);
  const power = `${e}${exponent < 0 ? '-' : sign}${'0'.repeat(exponentZeros)}${Math.abs(exponent)}`;
  return [
    integer < 0n ? '-' : '',
    moved.slice(0, point),
    fraction === '' ? '' : `.${fraction}`,
    exponent === 0 ? '' : power,
  ].join('');
}

type Notation = typeof notation extends fc.Arbitrary<infer T> ? T : never;

describe('parseExactInteger', () => {
  it('parses every notation of an integer', () => {
    fc.assert(
      fc.property(int64, notation, (integer, how) => {
        const source = format(integer, how);
        expect(JSON.parse(source), source).to.equal(Number(integer));
        expect(parseExactInteger(source), source).to.equal(integer);
      }),
      { numRuns: 2000 },
    );
  });

  it('returns 0 for every notation of zero', () => {
    for (const zero of ['-0', '-0.0e-0', '0e999999999999999999999', '0.000e-999999999999999999999'])
      expect(parseExactInteger(zero), zero).to.equal(0n);
  });

  it('returns undefined for every fraction', () => {
    fc.assert(
      fc.property(int64, fc.stringMatching(/^\d{0,30}[1-9]0{0,3}$/), (integer, fraction) => {
        expect(parseExactInteger(`${integer}.${fraction}`)).to.equal(undefined);
      }),
    );
  });

  // A parser with quadratic time would take minutes.
  for (const [what, source, integer] of [
    [`0.0…01e${MEBIBYTE + 1} with a mebibyte of zeros`, `0.${'0'.repeat(MEBIBYTE)}1e${MEBIBYTE + 1}`, 1n],
    [`10…0e-${MEBIBYTE} with a mebibyte of zeros`, `1${'0'.repeat(MEBIBYTE)}e-${MEBIBYTE}`, 1n],
    ['1e9…9 with a mebibyte of nines', `1e${'9'.repeat(MEBIBYTE)}`, undefined],
    ['1e0…03 with a mebibyte of zeros', `1e${'0'.repeat(MEBIBYTE)}3`, 1000n],
  ] as const) {
    it(`takes linear time for ${what}`, () => {
      expect(parseExactInteger(source)).to.equal(integer);
    });
  }
});

describe('findNumberText', () => {
  const whitespace = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
  const number = fc.tuple(int64, notation).map(([integer, how]) => format(integer, how));
  const otherValue = fc.oneof(
    fc.constantFrom('{"a":1,"id":2}', '{"id":3}', '["id",{"a":1,"id":4},"id"]', '"id"', '"\\"id\\":5"'),
    fc.json({ maxDepth: 3 }),
  );
  const key = fc.oneof(fc.constantFrom('id', 'ID', 'i', 'name', '__proto__', 'id\\', '"id":1', '{"id":2'), fc.string());
  const member = fc.record({
    key,
    isEscaped: fc.boolean(),
    isNumber: fc.boolean(),
    number,
    otherValue,
    gaps: fc.tuple(whitespace, whitespace, whitespace, whitespace),
  });

  it('finds the member that JSON.parse reads: the last one with the key', () => {
    fc.assert(
      fc.property(fc.array(member, { maxLength: 6 }), (members) => {
        const texts = members.map(({ key, isEscaped, isNumber, number, otherValue, gaps: [a, b, c, d] }) => {
          const name = isEscaped ? escapeAll(key) : JSON.stringify(key);
          return `${a}${name}${b}:${c}${isNumber ? number : otherValue}${d}`;
        });
        const json = `{${texts.join(',')}}`;
        const last = members.findLast(({ key }) => key === 'id');
        const value = last?.isNumber ? last.number : last?.otherValue;
        const expected = typeof JSON.parse(value ?? 'null') === 'number' ? value : undefined;
        expect(findNumberText(json, 'id'), json).to.equal(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it('takes linear time for deep nesting and long strings', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"id":', '}'],
    ] as const) {
      const nested = `${open.repeat(100_000)}0${close.repeat(100_000)}`;
      expect(findNumberText(`{"nested":${nested},"id":1}`, 'id')).to.equal('1');
    }
    for (const text of ['\\\\'.repeat(MEBIBYTE / 2), '\\"'.repeat(MEBIBYTE / 2), ' '.repeat(MEBIBYTE)]) {
      expect(findNumberText(`{"name":"${text}","id":${' '.repeat(MEBIBYTE)}1}`, 'id')).to.equal('1');
    }
  });
});

/** Returns a JSON string with every UTF-16 code unit escaped. */
function escapeAll(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16).padStart(4, '0'));
  return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
}
