import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { loadDescription, type OpenApiDescription, PlantCodec } from '../../../adapters/wire/index.js';
import { type NewPlant, Plant } from '../../../core/index.js';

const codec = new PlantCodec(loadDescription());
const ID_MESSAGE = 'id must be an integer from -9223372036854775808 to 9223372036854775807';

/** What the codec makes of a text. */
function decode(text: string): ReturnType<PlantCodec['decode']> {
  return codec.decode(Buffer.from(text));
}

function expectPlant(text: string, expected: NewPlant): void {
  expect({ tag: undefined, ...decode(text) }).to.deep.equal({ tag: undefined, ...expected });
}

describe('A body', () => {
  describe('that is a NewPlant', () => {
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
      it(`has the id ${exact} where it says ${id}`, () => {
        expectPlant(`{"id":${id},"name":"Monstera"}`, { id: exact, name: 'Monstera' });
      });
    }

    for (const [what, text, expected] of [
      ['a tag', '{"id":1,"name":"Monstera","tag":"indoor"}', { id: 1n, name: 'Monstera', tag: 'indoor' }],
      ['an empty name and an empty tag', '{"id":1,"name":"","tag":""}', { id: 1n, name: '', tag: '' }],
      ['unknown fields', '{"id":1,"name":"x","colour":"green","ID":[2]}', { id: 1n, name: 'x' }],
      [
        'fields named like those of every object',
        '{"id":1,"name":"x","toString":1,"__proto__":2}',
        { id: 1n, name: 'x' },
      ],
      ['a prototype that has other values', '{"id":1,"name":"x","__proto__":{"id":2,"tag":3}}', { id: 1n, name: 'x' }],
      ['equal keys, of which the last one counts', '{"id":1,"name":"x","name":"y","id":2}', { id: 2n, name: 'y' }],
      ['escaped keys', '{"\\u0069d":9007199254740993,"n\\u0061me":"x"}', { id: 9007199254740993n, name: 'x' }],
      ['a byte order mark before it', '\ufeff{"id":1,"name":"x"}', { id: 1n, name: 'x' }],
      ['byte order marks inside', '{"id":1,"name":"\ufeffx\ufeff"}', { id: 1n, name: '\ufeffx\ufeff' }],
      ['blanks around it', ' \t\r\n{"id":1,"name":"x"}\n', { id: 1n, name: 'x' }],
      ['text that is not normalised', '{"id":1,"name":"e\u0301 é 🌵 "}', { id: 1n, name: 'e\u0301 é 🌵 ' }],
      [
        'text for the core to judge',
        '{"id":1,"name":"\\u0000","tag":"\\ud800"}',
        { id: 1n, name: '\0', tag: '\ud800' },
      ],
    ] as const) {
      it(`may have ${what}`, () => {
        expectPlant(text, expected);
      });
    }

    it('may have a nest of 100,000 brackets in an unknown field', () => {
      expectPlant(`{"id":7,"x":${'['.repeat(100_000)}${']'.repeat(100_000)},"name":"x"}`, { id: 7n, name: 'x' });
    });
  });

  describe('that is not one JSON text in UTF-8 (40001):', () => {
    it('an empty one', () => {
      expect(decode('')).to.deep.equal({ error: 40001, message: 'The body is empty; it must be one JSON text' });
    });

    for (const [what, text] of [
      ['blanks', ' \n'],
      ['a byte order mark', '\ufeff'],
      ['two byte order marks', '\ufeff\ufeff{"id":1,"name":"x"}'],
      ['a cut object', '{"id":1,"name":"x"'],
      ['two texts', '{"id":1,"name":"x"}{"id":2,"name":"x"}'],
      ['a comma too many', '{"id":1,"name":"x",}'],
      ['a leading zero', '{"id":01,"name":"x"}'],
      ['a leading plus', '{"id":+1,"name":"x"}'],
      ['a number in base 16', '{"id":0x1,"name":"x"}'],
      ['a bigint of JavaScript', '{"id":1n,"name":"x"}'],
      ['NaN', '{"id":NaN,"name":"x"}'],
      ['a comment', '{"id":1,"name":"x"} // Monstera'],
      ['single quotes', "{'id':1,'name':'x'}"],
      ['a control character in a string', '{"id":1,"name":"\n"}'],
      ['a form', 'id=1&name=x'],
    ] as const) {
      it(what, () => {
        expect(decode(text)).to.deep.equal({ error: 40001, message: 'This is not one JSON text' });
      });
    }

    for (const [what, bytes] of [
      ['a byte that UTF-8 never has', [0xff]],
      ['a continuation without its start', [0x80]],
      ['a cut character', [0xe2, 0x82]],
      ['an overlong character of two bytes', [0xc0, 0xaf]],
      ['an overlong character of three bytes', [0xe0, 0x80, 0xaf]],
      ['an encoded surrogate', [0xed, 0xa0, 0x80]],
      ['an encoded pair of surrogates', [0xed, 0xa0, 0xbc, 0xed, 0xbc, 0xb5]],
      ['a code point beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
      ['Latin-1', [0xe9]],
    ] as const) {
      it(what, () => {
        const body = Buffer.concat([Buffer.from('{"id":1,"name":"'), Buffer.from(bytes), Buffer.from('"}')]);
        expect(codec.decode(body)).to.deep.equal({ error: 40001, message: 'The body is not UTF-8' });
      });
    }

    it('UTF-16', () => {
      expect(codec.decode(Buffer.from('\ufeff{"id":1,"name":"x"}', 'utf16le'))).to.have.property('error', 40001);
    });

    it('leaves nothing behind for the next body', () => {
      for (const bad of [[0xe2, 0x82], [0xef, 0xbb], [0xff], []]) {
        codec.decode(Uint8Array.from(bad));
        expectPlant('\ufeff{"id":1,"name":"€"}', { id: 1n, name: '€' });
      }
    });
  });

  describe('that is JSON, but not a NewPlant (40002), is told why:', () => {
    for (const [text, message] of [
      ['null', 'The body must be a JSON object'],
      ['1', 'The body must be a JSON object'],
      ['"id"', 'The body must be a JSON object'],
      ['true', 'The body must be a JSON object'],
      ['[]', 'The body must be a JSON object'],
      ['[{"id":1,"name":"x"}]', 'The body must be a JSON object'],
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

    it('everything that is wrong at once', () => {
      for (const id of ['1.5', '1e400', '9223372036854775808', '"1"']) {
        const rejection = decode(`{"id":${id},"tag":1}`);
        expect(rejection).to.have.property('error', 40002);
        const sentences = 'message' in rejection ? rejection.message.split('; ') : [];
        expect(sentences).to.have.members(['name is required', 'tag must be a string', ID_MESSAGE]);
      }
    });

    it('a nest of 100,000 brackets in place of a name', () => {
      const nest = '['.repeat(100_000) + ']'.repeat(100_000);
      expect(decode(`{"id":1,"name":${nest}}`)).to.deep.equal({ error: 40002, message: 'name must be a string' });
      expect(decode(nest)).to.deep.equal({ error: 40002, message: 'The body must be a JSON object' });
    });
  });

  describe('of any kind', () => {
    const expectRejection = (decoded: object, ...errors: number[]) => {
      expect(decoded).to.have.property('error').that.is.oneOf(errors);
      expect(decoded)
        .to.have.property('message')
        .that.matches(/^[^\n]+$/);
    };

    it('is read or rejected, but never thrown at', () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
          expectRejection(codec.decode(bytes), 40001, 40002);
        }),
      );
    });

    it('of JSON is read as JSON.parse reads it, or rejected', () => {
      const value = fc.oneof(fc.string(), fc.integer(), fc.jsonValue());
      const record = fc.record({ id: value, name: value, tag: value, more: value }, { requiredKeys: [] });
      fc.assert(
        fc.property(fc.oneof(record, fc.jsonValue()), (body) => {
          const decoded = decode(JSON.stringify(body));
          if ('error' in decoded) return expectRejection(decoded, 40002);
          const { id, name, tag } = decoded;
          expect(body).to.deep.include({ id: Number(id), name, ...(tag === undefined ? {} : { tag }) });
        }),
        { numRuns: 1000 },
      );
    });

    it('never has another id than the digits say', () => {
      const integer = fc.oneof(
        fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }),
        fc.bigInt({ min: -5n, max: 5n }).map((near) => 2n ** 63n + near),
        fc.bigInt({ min: -5n, max: 5n }).map((near) => -(2n ** 63n) + near),
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

describe('The description', () => {
  const newPlant = Buffer.from('{"id":1,"name":"Monstera","tag":"indoor"}');

  const property = (name: string, schema: object) => ({ type: 'object', properties: { [name]: schema } });

  for (const [what, rule, message] of [
    [
      'a longest name',
      property('name', { type: 'string', maxLength: 7 }),
      /^name must NOT have more than 7 characters$/,
    ],
    ['a shortest name', property('name', { type: 'string', minLength: 9 }), /^name must NOT have fewer than 9 char/],
    ['a pattern', property('tag', { type: 'string', pattern: '^out' }), /^tag must match pattern "\^out"$/],
    ['allowed values', property('tag', { enum: ['outdoor'] }), /^tag must be equal to one of the allowed values$/],
    ['a smallest id', property('id', { type: 'integer', minimum: 2 }), /^id must be >= 2$/],
    ['another type', property('tag', { type: 'boolean' }), /^tag must be a boolean$/],
    ['another required field', { type: 'object', required: ['colour'] }, /^colour is required$/],
    ['a largest number of fields', { type: 'object', maxProperties: 2 }, /more than 2/],
  ] as const) {
    it(`is what validates: give it ${what}, and plants are held to it`, () => {
      const changed = new PlantCodec(describing((schema) => ({ allOf: [schema, rule] })));
      const decoded = changed.decode(newPlant);
      expect(codec.decode(newPlant)).to.not.have.property('error');
      expect(decoded).to.have.property('error', 40002);
      expect(decoded).to.have.property('message').that.matches(message);
    });
  }

  it('is what validates: take the rule for a tag away, and anything is taken for one', () => {
    const idAlone = property('id', { type: 'integer' });
    const decoded = new PlantCodec(describing(() => idAlone)).decode(Buffer.from('{"id":1,"name":"x","tag":1}'));
    expect(decoded).to.not.have.property('error');
  });

  it('cannot make an id optional: the client is told that it is missing', () => {
    const changed = new PlantCodec(describing(() => ({ $ref: '#/components/schemas/Plant' })));
    const decoded = changed.decode(Buffer.from('{"name":"x"}'));
    expect(decoded).to.have.property('error', 40002);
    expect(decoded)
      .to.have.property('message')
      .that.matches(/\bid\b/);
  });
});

describe('The answer', () => {
  for (const [what, plant, text] of [
    ['has name and tag, and no id', { id: 1n, name: 'Monstera', tag: 'indoor' }, '{"name":"Monstera","tag":"indoor"}'],
    ['has no tag where the plant has none', { id: 1n, name: 'Monstera' }, '{"name":"Monstera"}'],
    ['has an empty tag where the plant has one', { id: 1n, name: '', tag: '' }, '{"name":"","tag":""}'],
  ] as const) {
    it(what, () => {
      expect(codec.encode(plantOf(plant))).to.equal(text);
    });
  }

  it('has any text code point for code point', () => {
    const text = fc.string({ unit: 'binary' }).map((any) => any.replaceAll('\0', ''));
    fc.assert(
      fc.property(text, text, (name, tag) => {
        expect(JSON.parse(codec.encode(plantOf({ id: 1n, name, tag })))).to.deep.equal({ name, tag });
      }),
    );
  });
});

/** The description with another schema of a NewPlant. */
function describing(newPlant: (schema: object) => object): OpenApiDescription {
  const text = JSON.stringify(loadDescription());
  return JSON.parse(text, (key, value) => (key === 'NewPlant' ? newPlant(value) : value));
}

function plantOf(newPlant: NewPlant): Plant {
  const plant = Plant.from(newPlant);
  if (plant instanceof Plant) return plant;
  throw new TypeError('no plant');
}
