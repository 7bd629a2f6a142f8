import { type ApiError, JsonPlantCodec, type OpenApiDescription, openApiDescription } from '@plant-store/adapters/api';
import type { NewPlant } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
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

  it('rejects any other input with a message that names the problem', () => {
    for (const [text, error, message] of [
      ['', 40001, 'The input is empty'],
      ['"\xff"', 40001, 'The input is not UTF-8'],
      ['{', 40001, 'The input is not valid JSON'],
      ['[]', 40002, 'The JSON value must be an object'],
      ['{"Id":1,"Name":"x"}', 40002, 'name is required; id is required'],
      ['{"id":1.5,"name":null,"tag":{}}', 40002, `name must be a string; tag must be a string; ${ID_MESSAGE}`],
      ['{"id":9007199254740992.5,"name":"rounded by JSON.parse"}', 40002, ID_MESSAGE],
    ] as const)
      expect(decode(Buffer.from(text, 'latin1')), text).to.deep.equal({ error, message });
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
