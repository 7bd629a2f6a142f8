import { spawnSync } from 'node:child_process';
import { type ApiError, JsonPlantCodec, type OpenApiDescription, openApiDescription } from '@plant-store/adapters/api';
import type { NewPlant } from '@plant-store/core';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { findNumberText, parseExactInteger } from '#adapters/driving/api/plant-codec.js';
import { toPlant } from '../../../support/plants.js';

const codec = new JsonPlantCodec();
const ID_MESSAGE = 'id must be an integer from -9223372036854775808 to 9223372036854775807';

/** Decodes a body to a NewPlant or an error. */
function decode(body: string | Uint8Array, plantCodec = codec): NewPlant | ApiError {
  const result = plantCodec.decodeNewPlant(Buffer.from(body));
  return result.kind === 'decoded' ? result.newPlant : result.error;
}

describe('JsonPlantCodec.decodeNewPlant', () => {
  it('decodes a NewPlant, ignoring a byte order mark and unknown fields', () => {
    const newPlant = { id: 1n, name: 'x', tag: undefined };
    expect(decode('\ufeff{"id":1.0,"name":"x","more":[{"id":2}]}')).to.deep.equal(newPlant);
  });

  it('rejects any other input with a message that names the problem, also with a copy of the description', () => {
    const ofCopy = new JsonPlantCodec(structuredClone(openApiDescription));
    for (const [text, error, message] of [
      ['', 40001, 'The input is empty'],
      ['"\xff"', 40001, 'The input is not UTF-8'],
      ['{', 40001, 'The input is not valid JSON'],
      ['[]', 40002, 'The JSON value must be an object'],
      ['{"Id":1,"Name":"x"}', 40002, 'name is required; id is required'],
      ['{"id":1.5,"name":null,"tag":{}}', 40002, `name must be a string; tag must be a string; ${ID_MESSAGE}`],
      ['{"id":9007199254740992.5,"name":"rounded by JSON.parse"}', 40002, ID_MESSAGE],
    ] as const)
      for (const each of [codec, ofCopy])
        expect(decode(Buffer.from(text, 'latin1'), each), text).to.deep.equal({ error, message });
  });

  it('runs where code cannot be compiled from strings', () => {
    const module = import.meta.resolve('@plant-store/adapters/api');
    const code = `const { JsonPlantCodec } = await import('${module}');
      console.log(new JsonPlantCodec().decodeNewPlant(Buffer.from('{"id":1,"name":"x"}')).kind);`;
    const args = ['--disallow-code-generation-from-strings', '--input-type=module', '--eval', code];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect([stdout, stderr]).to.deep.equal(['decoded\n', '']);
  });

  it('applies the schema of another description, with messages for any rule', () => {
    for (const [rule, message] of [
      [{ properties: { tag: { type: 'string', pattern: '^out' } } }, 'tag must match pattern "^out"'],
      [{ required: ['colour'] }, 'colour is required'],
      [{ maxProperties: 2 }, 'The JSON value must NOT have more than 2 properties'],
    ] as const) {
      const text = JSON.stringify(openApiDescription);
      const changed: OpenApiDescription = JSON.parse(text, (key, value) =>
        key === 'NewPlant' ? { allOf: [value, { type: 'object', ...rule }] } : value,
      );
      const newPlant = '{"id":1,"name":"Monstera","tag":"indoor"}';
      expect(decode(newPlant, new JsonPlantCodec(changed))).to.deep.equal({ error: 40002, message });
    }
  });
});

describe('JsonPlantCodec.encodeNewPlant', () => {
  it('returns what decodeNewPlant reads, with an exact id', () => {
    const newPlant = { id: 9007199254740993n, name: '0', tag: '$&' };
    expect(decode(codec.encodeNewPlant(toPlant(newPlant)))).to.deep.equal(newPlant);
    expect(codec.encodeNewPlant(toPlant({ id: -1n, name: '' }))).to.equal('{"id":-1,"name":""}');
  });
});

describe('JsonPlantCodec.encodePlant', () => {
  it('returns the strings of the plant, but not its id', () => {
    expect(codec.encodePlant(toPlant({ id: 1n, name: '', tag: '' }))).to.equal('{"name":"","tag":""}');
    expect(codec.encodePlant(toPlant({ id: 1n, name: 'Monstera' }))).to.equal('{"name":"Monstera"}');
  });
});

const MEBIBYTE = 2 ** 20;

/** Numbers in the JSON grammar, many of which are integers in another notation. */
const number = fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{0,9}0{1,20})?([eE][+-]?0?\d{1,2})?$/);

/** Returns the integer that a JSON number stands for; `undefined` for a fraction or more than 19 digits. */
function toInteger(source: string): bigint | undefined {
  const [mantissa = '', exponent = 0] = source.split(/e/i);
  const [whole, fraction = ''] = mantissa.split('.');
  const power = Number(exponent) - fraction.length;
  const scale = 10n ** BigInt(Math.abs(power));
  const digits = BigInt(`${whole}${fraction}`);
  if (power < 0 && digits % scale !== 0n) return undefined;
  const integer = power < 0 ? digits / scale : digits * scale;
  return integer > -(10n ** 19n) && integer < 10n ** 19n ? integer : undefined;
}

describe('parseExactInteger', () => {
  it('parses every notation of an integer, and no fraction', () => {
    fc.assert(
      fc.property(number, (source) => {
        expect(parseExactInteger(source), source).to.equal(toInteger(source));
      }),
      { numRuns: 10_000 },
    );
  });

  it('parses the notations of the limits of int64', () => {
    for (const limit of [2n ** 63n - 1n, -(2n ** 63n)])
      for (const source of [`${limit}`, `${limit}.00`, `${limit}00e-2`, `${limit / 10n}.${`${limit}`.at(-1)}E+1`])
        expect(parseExactInteger(source), source).to.equal(limit);
  });

  it('parses a mebibyte of digits, which would take a parser with quadratic time minutes', () => {
    const zeros = '0'.repeat(MEBIBYTE);
    const nines = '9'.repeat(MEBIBYTE);
    expect(parseExactInteger(`0.${zeros}1e${MEBIBYTE + 1}`)).to.equal(1n);
    expect(parseExactInteger(`1${zeros}e-${MEBIBYTE}`)).to.equal(1n);
    expect(parseExactInteger(`1e${zeros}3`)).to.equal(1000n);
    expect(parseExactInteger(`0e-${nines}`)).to.equal(0n);
    expect(parseExactInteger(`1e${nines}`)).to.equal(undefined);
  });
});

describe('findNumberText', () => {
  const otherValue = fc.oneof(
    fc.constantFrom('{"a":1,"id":2}', '{"id":3}', '["id",{"a":1,"id":4},"id"]', '"id"', '"\\"id\\":5"'),
    fc.json({ maxDepth: 3 }),
  );
  const key = fc.oneof(fc.constantFrom('id', 'ID', 'i', 'name', '__proto__', 'id\\', '"id":1', '{"id":2'), fc.string());
  const member = fc.record({
    key,
    toJson: fc.constantFrom(JSON.stringify, escapeAll),
    value: fc.oneof(number, otherValue),
    gap: fc.stringMatching(/^[ \t\r\n]{0,2}$/),
  });

  it('finds the member that JSON.parse reads: the last one with the key', () => {
    fc.assert(
      fc.property(fc.array(member, { maxLength: 6 }), (members) => {
        const texts = members.map(({ key, toJson, value, gap }) => `${gap}${toJson(key)}${gap}:${gap}${value}${gap}`);
        const json = `{${texts.join(',')}}`;
        const value = members.findLast(({ key }) => key === 'id')?.value;
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
