import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { type ApiError, type OpenApiDescription, openApiDescription, PlantCodec } from '../../../adapters/api/index.js';
import type { NewPlant } from '../../../core/index.js';
import { toPlant } from '../../support/plants.js';
import { storableText } from '../../support/texts.js';

const codec = new PlantCodec(openApiDescription);
const ID_MESSAGE = 'id must be an integer from -9223372036854775808 to 9223372036854775807';

/** Decodes a body to a NewPlant or an error. */
function decode(body: string | Uint8Array, plantCodec = codec): NewPlant | ApiError {
  const result = plantCodec.decode(Buffer.from(body));
  return result.kind === 'decoded' ? result.newPlant : result.error;
}

function expectNewPlant(text: string, expected: NewPlant): void {
  expect({ tag: undefined, ...decode(text) }).to.deep.equal({ tag: undefined, ...expected });
}

describe('PlantCodec.decode', () => {
  describe('accepts', () => {
    for (const [id, exact] of [
      ['9007199254740993', 9007199254740993n],
      ['-9007199254740993', -9007199254740993n],
      ['9223372036854775807', 9223372036854775807n],
      ['-9223372036854775808', -9223372036854775808n],
      ['1.0', 1n],
      ['1e3', 1000n],
      ['10e-1', 1n],
      ['-0', 0n],
    ] as const) {
      it(`the id ${id} as ${exact}`, () => {
        expectNewPlant(`{"id":${id},"name":"Monstera"}`, { id: exact, name: 'Monstera' });
      });
    }

    for (const [what, text, expected] of [
      ['a tag', '{"id":1,"name":"Monstera","tag":"indoor"}', { id: 1n, name: 'Monstera', tag: 'indoor' }],
      ['an empty name and an empty tag', '{"id":1,"name":"","tag":""}', { id: 1n, name: '', tag: '' }],
      ['unknown fields', '{"id":1,"name":"x","colour":"green","ID":[2]}', { id: 1n, name: 'x' }],
      ['fields named like members of Object', '{"id":1,"name":"x","toString":1,"__proto__":2}', { id: 1n, name: 'x' }],
      [
        'a __proto__ field with other values',
        '{"id":1,"name":"x","__proto__":{"id":2,"tag":3}}',
        { id: 1n, name: 'x' },
      ],
      ['duplicate keys, and uses the last one', '{"id":1,"name":"x","name":"y","id":2}', { id: 2n, name: 'y' }],
      ['escaped keys', '{"\\u0069d":9007199254740993,"n\\u0061me":"x"}', { id: 9007199254740993n, name: 'x' }],
      ['a leading byte order mark', '\ufeff{"id":1,"name":"x"}', { id: 1n, name: 'x' }],
      ['byte order marks inside strings', '{"id":1,"name":"\ufeffx\ufeff"}', { id: 1n, name: '\ufeffx\ufeff' }],
      ['surrounding white space', ' \t\r\n{"id":1,"name":"x"}\n', { id: 1n, name: 'x' }],
      ['strings that are not normalised', '{"id":1,"name":"e\u0301 é 🌵 "}', { id: 1n, name: 'e\u0301 é 🌵 ' }],
      [
        'strings that only the core rejects',
        '{"id":1,"name":"\\u0000","tag":"\\ud800"}',
        { id: 1n, name: '\0', tag: '\ud800' },
      ],
    ] as const) {
      it(what, () => {
        expectNewPlant(text, expected);
      });
    }

    it('100,000 nested brackets in an unknown field', () => {
      expectNewPlant(`{"id":7,"x":${'['.repeat(100_000)}${']'.repeat(100_000)},"name":"x"}`, { id: 7n, name: 'x' });
    });
  });

  describe('rejects with 40001', () => {
    it('an empty body', () => {
      expect(decode('')).to.deep.equal({ error: 40001, message: 'The text is empty' });
    });

    for (const [what, text] of [
      ['white space', ' \n'],
      ['a byte order mark', '\ufeff'],
      ['two byte order marks', '\ufeff\ufeff{"id":1,"name":"x"}'],
      ['a truncated object', '{"id":1,"name":"x"'],
      ['two JSON texts', '{"id":1,"name":"x"}{"id":2,"name":"x"}'],
      ['a trailing comma', '{"id":1,"name":"x",}'],
      ['a leading zero', '{"id":01,"name":"x"}'],
      ['a leading plus', '{"id":+1,"name":"x"}'],
      ['a hexadecimal number', '{"id":0x1,"name":"x"}'],
      ['a JavaScript bigint', '{"id":1n,"name":"x"}'],
      ['NaN', '{"id":NaN,"name":"x"}'],
      ['a comment', '{"id":1,"name":"x"} // Monstera'],
      ['single quotes', "{'id':1,'name':'x'}"],
      ['a control character in a string', '{"id":1,"name":"\n"}'],
      ['a form body', 'id=1&name=x'],
    ] as const) {
      it(what, () => {
        expect(decode(text)).to.deep.equal({ error: 40001, message: 'The text is not valid JSON' });
      });
    }

    for (const [what, bytes] of [
      ['a byte that is never valid in UTF-8', [0xff]],
      ['a lone continuation byte', [0x80]],
      ['a truncated character', [0xe2, 0x82]],
      ['an overlong two-byte encoding', [0xc0, 0xaf]],
      ['an overlong three-byte encoding', [0xe0, 0x80, 0xaf]],
      ['an encoded surrogate', [0xed, 0xa0, 0x80]],
      ['an encoded surrogate pair', [0xed, 0xa0, 0xbc, 0xed, 0xbc, 0xb5]],
      ['a code point beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
      ['Latin-1', [0xe9]],
    ] as const) {
      it(what, () => {
        const body = Buffer.concat([Buffer.from('{"id":1,"name":"'), Buffer.from(bytes), Buffer.from('"}')]);
        expect(decode(body)).to.deep.equal({ error: 40001, message: 'The text is not UTF-8' });
      });
    }

    it('UTF-16', () => {
      expect(decode(Buffer.from('\ufeff{"id":1,"name":"x"}', 'utf16le'))).to.have.property('error', 40001);
    });

    it('a body without affecting the next one', () => {
      for (const bad of [[0xe2, 0x82], [0xef, 0xbb], [0xff], []]) {
        expect(decode(Uint8Array.from(bad))).to.have.property('error', 40001);
        expectNewPlant('\ufeff{"id":1,"name":"€"}', { id: 1n, name: '€' });
      }
    });
  });

  describe('rejects with 40002 and the reason', () => {
    for (const [text, message] of [
      ['null', 'The JSON value must be an object'],
      ['1', 'The JSON value must be an object'],
      ['"id"', 'The JSON value must be an object'],
      ['true', 'The JSON value must be an object'],
      ['[]', 'The JSON value must be an object'],
      ['[{"id":1,"name":"x"}]', 'The JSON value must be an object'],
      ['{"id":1}', 'name is required'],
      ['{"name":"x"}', 'id is required'],
      ['{"Id":1,"Name":"x"}', 'name is required; id is required'],
      ['{"__proto__":{"id":1,"name":"x"}}', 'name is required; id is required'],
      ['{"id":1,"name":null}', 'name must be a string'],
      ['{"id":1,"name":1}', 'name must be a string'],
      ['{"id":1,"name":["x"]}', 'name must be a string'],
      ['{"id":1,"name":"x","tag":null}', 'tag must be a string'],
      ['{"id":1,"name":"x","tag":{}}', 'tag must be a string'],
      ['{"id":null,"name":"x"}', ID_MESSAGE],
      ['{"id":"1","name":"x"}', ID_MESSAGE],
      ['{"id":true,"name":"x"}', ID_MESSAGE],
      ['{"id":[1],"name":"x"}', ID_MESSAGE],
      ['{"id":1.5,"name":"x"}', ID_MESSAGE],
      ['{"id":1e-400,"name":"x"}', ID_MESSAGE],
      ['{"id":1e400,"name":"x"}', ID_MESSAGE],
      ['{"id":-1e400,"name":"x"}', ID_MESSAGE],
      ['{"id":9223372036854775808,"name":"x"}', ID_MESSAGE],
      ['{"id":-9223372036854775809,"name":"x"}', ID_MESSAGE],
      ['{"id":9007199254740992.5,"name":"x"}', ID_MESSAGE],
      ['{"id":9223372036854775807.5,"name":"x"}', ID_MESSAGE],
      ['{"id":1,"id":"1","name":"x"}', ID_MESSAGE],
    ] as const) {
      it(text, () => {
        expect(decode(text)).to.deep.equal({ error: 40002, message });
      });
    }

    it('a body with several violations, naming all of them', () => {
      for (const id of ['1.5', '1e400', '9223372036854775808', '"1"']) {
        const decoded = decode(`{"id":${id},"tag":1}`);
        expect(decoded).to.have.property('error', 40002);
        const sentences = 'message' in decoded ? decoded.message.split('; ') : [];
        expect(sentences).to.have.members(['name is required', 'tag must be a string', ID_MESSAGE]);
      }
    });

    it('100,000 nested brackets as the name or as the body', () => {
      const nested = '['.repeat(100_000) + ']'.repeat(100_000);
      expect(decode(`{"id":1,"name":${nested}}`)).to.deep.equal({ error: 40002, message: 'name must be a string' });
      expect(decode(nested)).to.deep.equal({ error: 40002, message: 'The JSON value must be an object' });
    });
  });

  describe('for random bodies', () => {
    const expectError = (decoded: object, ...errors: number[]) => {
      expect(decoded).to.have.property('error').that.is.oneOf(errors);
      expect(decoded)
        .to.have.property('message')
        .that.matches(/^[^\n]+$/);
    };

    it('never throws', () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
          expectError(decode(bytes), 40001, 40002);
        }),
      );
    });

    it('agrees with JSON.parse, or rejects', () => {
      const value = fc.oneof(fc.string(), fc.integer(), fc.jsonValue());
      const record = fc.record({ id: value, name: value, tag: value, more: value }, { requiredKeys: [] });
      fc.assert(
        fc.property(fc.oneof(record, fc.jsonValue()), (body) => {
          const text = JSON.stringify(body);
          const decoded = decode(text);
          if ('error' in decoded) return expectError(decoded, 40002);
          const { id, name, tag } = decoded;
          // Not `body`, because JSON.stringify writes -0 as 0.
          expect(JSON.parse(text)).to.deep.include({ id: Number(id), name, ...(tag === undefined ? {} : { tag }) });
        }),
        { numRuns: 1000 },
      );
    });

    it('returns the exact id, or rejects', () => {
      const integer = fc.oneof(
        fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }),
        fc.bigInt({ min: -5n, max: 5n }).map((offset) => 2n ** 63n + offset),
        fc.bigInt({ min: -5n, max: 5n }).map((offset) => -(2n ** 63n) + offset),
      );
      fc.assert(
        fc.property(integer, fc.constantFrom('', '.0', 'e0', '.000E+0', 'e-0'), (id, ending) => {
          const decoded = decode(`{"name":"x","id":${id}${ending}}`);
          if (BigInt.asIntN(64, id) === id) expect(decoded).to.have.property('id', id);
          else expect(decoded).to.deep.equal({ error: 40002, message: ID_MESSAGE });
        }),
      );
    });
  });
});

describe('The NewPlant schema', () => {
  const newPlant = Buffer.from('{"id":1,"name":"Monstera","tag":"indoor"}');

  const property = (name: string, schema: object) => ({ type: 'object', properties: { [name]: schema } });

  for (const [what, rule, message] of [
    [
      'a maximum name length',
      property('name', { type: 'string', maxLength: 7 }),
      /^name must NOT have more than 7 characters$/,
    ],
    [
      'a minimum name length',
      property('name', { type: 'string', minLength: 9 }),
      /^name must NOT have fewer than 9 char/,
    ],
    ['a pattern', property('tag', { type: 'string', pattern: '^out' }), /^tag must match pattern "\^out"$/],
    ['an enum', property('tag', { enum: ['outdoor'] }), /^tag must be equal to one of the allowed values$/],
    ['a minimum id', property('id', { type: 'integer', minimum: 2 }), /^id must be >= 2$/],
    ['a different type', property('tag', { type: 'boolean' }), /^tag must be a boolean$/],
    ['an additional required field', { type: 'object', required: ['colour'] }, /^colour is required$/],
    ['a maximum number of fields', { type: 'object', maxProperties: 2 }, /more than 2/],
  ] as const) {
    it(`is the source of validation: applies ${what}`, () => {
      const changed = new PlantCodec(describeWith((schema) => ({ allOf: [schema, rule] })));
      const decoded = decode(newPlant, changed);
      expect(decode(newPlant)).to.not.have.property('error');
      expect(decoded).to.have.property('error', 40002);
      expect(decoded).to.have.property('message').that.matches(message);
    });
  }

  it('is the source of validation: accepts any tag without a rule for it', () => {
    const idAlone = property('id', { type: 'integer' });
    const decoded = decode('{"id":1,"name":"x","tag":1}', new PlantCodec(describeWith(() => idAlone)));
    expect(decoded).to.not.have.property('error');
  });

  it('cannot make the id optional', () => {
    const changed = new PlantCodec(describeWith(() => ({ $ref: '#/components/schemas/Plant' })));
    const decoded = decode('{"name":"x"}', changed);
    expect(decoded).to.have.property('error', 40002);
    expect(decoded)
      .to.have.property('message')
      .that.matches(/\bid\b/);
  });
});

describe('PlantCodec.encode', () => {
  for (const [what, plant, text] of [
    [
      'returns name and tag, but not the id',
      { id: 1n, name: 'Monstera', tag: 'indoor' },
      '{"name":"Monstera","tag":"indoor"}',
    ],
    ['omits a missing tag', { id: 1n, name: 'Monstera' }, '{"name":"Monstera"}'],
    ['keeps an empty tag', { id: 1n, name: '', tag: '' }, '{"name":"","tag":""}'],
  ] as const) {
    it(what, () => {
      expect(codec.encode(toPlant(plant))).to.equal(text);
    });
  }

  it('keeps any text code point for code point', () => {
    const text = storableText();
    fc.assert(
      fc.property(text, text, (name, tag) => {
        expect(JSON.parse(codec.encode(toPlant({ id: 1n, name, tag })))).to.deep.equal({ name, tag });
      }),
    );
  });
});

/** Returns the description with a modified NewPlant schema. */
function describeWith(newPlant: (schema: object) => object): OpenApiDescription {
  const text = JSON.stringify(openApiDescription);
  return JSON.parse(text, (key, value) => (key === 'NewPlant' ? newPlant(value) : value));
}
