import { JsonPlantCodec, type OpenApiDescription, openApiDescription } from '@plant-store/adapters/api';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { findNumberText, parseExactInteger } from '#adapters/driving/api/plant-codec.js';

const codec = new JsonPlantCodec();

/** Returns the NewPlant or the error. */
function decode(body: string | Uint8Array, plantCodec = codec) {
  const result = plantCodec.decodeNewPlant(Buffer.from(body));
  return result.kind === 'decoded' ? result.newPlant : result.error;
}

describe('JsonPlantCodec.decodeNewPlant', () => {
  it('decodes a NewPlant, ignoring a byte order mark and unknown fields', () => {
    const newPlant = { id: 1n, name: 'x', tag: undefined };
    expect(decode('\ufeff{"id":1.0,"name":"x","more":[{"id":2}]}')).to.deep.equal(newPlant);
  });

  it('rejects any other input with a message that names the problem, also with a description that the build has not compiled', () => {
    const range = 'id must be an integer from -9223372036854775808 to 9223372036854775807';
    for (const [text, error, message] of [
      ['', 40001, 'The input is empty'],
      ['"\xff"', 40001, 'The input is not UTF-8'],
      ['{', 40001, 'The input is not valid JSON'],
      ['[]', 40002, 'The JSON value must be an object'],
      ['{"Id":1,"Name":"x"}', 40002, 'name is required; id is required'],
      ['{"id":1.5,"name":null,"tag":{}}', 40002, `name must be a string; tag must be a string; ${range}`],
      ['{"id":9007199254740992.5,"name":"rounded by JSON.parse"}', 40002, range],
    ] as const)
      for (const each of [codec, new JsonPlantCodec({ ...openApiDescription, servers: [] })])
        expect(decode(Buffer.from(text, 'latin1'), each), text).to.deep.equal({ error, message });
  });

  it('applies the schema of another description, with messages for any rule', () => {
    const changed: OpenApiDescription = structuredClone(openApiDescription);
    const tag = { type: 'string', pattern: '^out' };
    const rules = { type: 'object', properties: { tag }, required: ['colour'], maxProperties: 2 };
    changed.components.schemas['NewPlant'] = { allOf: [openApiDescription.components.schemas['NewPlant'], rules] };
    const body = '{"id":1,"name":"Monstera","tag":"indoor"}';
    expect(decode(body, new JsonPlantCodec(changed))).to.deep.equal({
      error: 40002,
      message: 'The JSON value must NOT have more than 2 properties; colour is required; tag must match pattern "^out"',
    });
  });
});

const MEBIBYTE = 2 ** 20;
/** Numbers in the JSON grammar, many of which are integers in another notation. */
const number = fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{0,9}0{1,20})?([eE][+-]?0?\d{1,2})?$/);

describe('parseExactInteger', () => {
  it('parses every notation of an integer, and no fraction', () => {
    fc.assert(
      fc.property(number, (source) => {
        const [mantissa = '', exponent = 0] = source.split(/e/i);
        const [whole, fraction = ''] = mantissa.split('.');
        const power = Number(exponent) - fraction.length;
        // The exponents of the generated numbers are above -200.
        const scaled = BigInt(`${whole}${fraction}`) * 10n ** BigInt(power + 200);
        const integer = scaled / 10n ** 200n;
        const isExact = scaled % 10n ** 200n === 0n && `${integer}`.replace('-', '').length <= 19;
        expect(parseExactInteger(source), source).to.equal(isExact ? integer : undefined);
      }),
      { numRuns: 10_000 },
    );
  });

  it('parses a mebibyte of digits, which would take a parser with quadratic time minutes', () => {
    const [zeros, nines] = ['0'.repeat(MEBIBYTE), '9'.repeat(MEBIBYTE)];
    const sources = [
      `0.${zeros}1e${MEBIBYTE + 1}`,
      `1${zeros}e-${MEBIBYTE}`,
      `1e${zeros}3`,
      `0e-${nines}`,
      `1e${nines}`,
    ];
    expect(sources.map(parseExactInteger)).to.deep.equal([1n, 1n, 1000n, 0n, undefined]);
  });
});

describe('findNumberText', () => {
  it('finds the member that JSON.parse reads: the last one with the key', () => {
    const keys = ['"id"', '"\\u0069d"', '"ID"', '"i"', '"__proto__"', '"id\\\\"', '"\\"id\\":1"', '"{\\"id\\":2"'];
    const values = ['{"a":1,"id":2}', '{"id":3}', '["id",{"a":1,"id":4},"id"]', '"id"', '"\\"id\\":5"'];
    const member = fc.record({
      key: fc.constantFrom(...keys),
      value: fc.oneof(number, fc.constantFrom(...values), fc.json({ maxDepth: 3 })),
      gap: fc.stringMatching(/^[ \t\r\n]{0,2}$/),
    });
    fc.assert(
      fc.property(fc.array(member, { maxLength: 6 }), (members) => {
        const texts = members.map(({ key, value, gap }) => `${gap}${key}${gap}:${gap}${value}${gap}`);
        const value = members.findLast(({ key }) => JSON.parse(key) === 'id')?.value ?? 'null';
        const expected = typeof JSON.parse(value) === 'number' ? value : undefined;
        const json = `{${texts.join(',')}}`;
        expect(findNumberText(json, 'id'), json).to.equal(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it('takes linear time for deep nesting and long strings', () => {
    const arrays = '['.repeat(100_000) + ']'.repeat(100_000);
    const objects = `${'{"id":'.repeat(100_000)}0${'}'.repeat(100_000)}`;
    const strings = ['\\\\', '\\"', ' '].map((text) => `"long":"${text.repeat(MEBIBYTE / text.length)}"`);
    const json = `{"deep":[${arrays},${objects}],${strings},"id":${' '.repeat(MEBIBYTE)}1}`;
    expect(findNumberText(json, 'id')).to.equal('1');
  }).timeout(20_000);
});
