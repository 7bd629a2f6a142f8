import { casesFor, plantStoreCase } from './case.js';
import { expectOutcome, expectThat, newPlant, parseObject, randomId } from './service.js';
import type { HttpCase } from './types.js';

const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** Bodies that are not one JSON text in UTF-8. Many contain the given id, which is free. */
const NOT_JSON: Readonly<Record<string, (id: bigint) => string | Uint8Array>> = {
  'absent, without Content-Length or chunks': () => '',
  'whitespace only': () => ' \n\t ',
  'a byte order mark only': () => '\ufeff',
  'two byte order marks': (id) => `\ufeff\ufeff{"id":${id},"name":"x"}`,
  'cut off': (id) => `{"id":${id},"name":"x"`,
  'followed by garbage': (id) => `{"id":${id},"name":"x"}x`,
  'followed by a second JSON text': (id) => `{"id":${id},"name":"x"}{"id":2,"name":"x"}`,
  'followed by a NUL': (id) => `{"id":${id},"name":"x"}\0`,
  'with a trailing comma': (id) => `{"id":${id},"name":"x",}`,
  'with a comment': (id) => `{"id":${id},"name":"x"}//`,
  'with single quotes': (id) => `{'id':${id},'name':'x'}`,
  'with a bare key': (id) => `{id:${id},"name":"x"}`,
  'with a leading zero': () => '{"id":01,"name":"x"}',
  'with a leading plus': () => '{"id":+1,"name":"x"}',
  'with a number that ends in a point': () => '{"id":1.,"name":"x"}',
  'with a hexadecimal number': () => '{"id":0x1,"name":"x"}',
  'with NaN': () => '{"id":NaN,"name":"x"}',
  'with a line break in a string': (id) => `{"id":${id},"name":"a\nb"}`,
  'with an unknown escape': (id) => `{"id":${id},"name":"\\x41"}`,
  'with a truncated escape': (id) => `{"id":${id},"name":"\\u12"}`,
  'a form': () => 'id=1&name=x',
  'Latin-1': (id) => latin1(`{"id":${id},"name":"Farn\xe9"}`),
  'with a byte that is never UTF-8, in an unknown field': (id) => latin1(`{"id":${id},"name":"x","y":"\xff"}`),
  'with a truncated character at its end': (id) => latin1(`{"id":${id},"name":"x"}\xe2\x82`),
  'with an overlong character': (id) => latin1(`{"id":${id},"name":"\xc0\xaf"}`),
  'with a surrogate as bytes': (id) => latin1(`{"id":${id},"name":"\xed\xa0\x80"}`),
  'with a character beyond Unicode': (id) => latin1(`{"id":${id},"name":"\xf4\x90\x80\x80"}`),
  'in UTF-16': (id) => Buffer.from(`\ufeff{"id":${id},"name":"x"}`, 'utf16le'),
  '100,000 brackets that are not closed': () => '['.repeat(100_000),
};

/** JSON texts that are not a NewPlant. */
export const NOT_A_NEW_PLANT: Readonly<Record<string, string>> = {
  'an array': '[]',
  'an array of plants': '[{"id":1,"name":"x"}]',
  'a string': '"x"',
  'a number': '1',
  null: 'null',
  true: 'true',
  'an empty object': '{}',
  'without id': '{"name":"x"}',
  'without name': '{"id":1}',
  'with the fields in another letter case': '{"ID":1,"Name":"x"}',
  'with name null': '{"id":1,"name":null}',
  'with a number as its name': '{"id":1,"name":7}',
  'with an array as its name': '{"id":1,"name":["x"]}',
  'with an object as its name': '{"id":1,"name":{}}',
  'with tag null': '{"id":1,"name":"x","tag":null}',
  'with tag false': '{"id":1,"name":"x","tag":false}',
  'with the fields under __proto__': '{"__proto__":{"id":1,"name":"x"}}',
  'with id under __proto__': '{"__proto__":{"id":1},"name":"x"}',
  'with two names, the last of the wrong type': '{"id":1,"name":"x","name":1}',
  'with two ids, the last of the wrong type': '{"id":1,"id":"1","name":"x"}',
  'with two ids, the last a fraction under an escaped key': '{"id":1,"\\u0069d":1.5,"name":"x"}',
  'with deeply nested arrays as its name': `{"id":1,"name":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
};

export const INVALID_IDS: readonly string[] = [
  ...['1.5', '-0.1', '1e-1', '1e-400', '1e400', '-1e400', '1e19'],
  ...['9223372036854775808', '-9223372036854775809', '9223372036854775807.5', '9007199254740992.5'],
  ...['18446744073709551616', '0.99999999999999999999999', '9'.repeat(1000)],
  ...['1e99999999999999999999', '1e-99999999999999999999'],
  ...['"1"', '""', 'null', 'true', '[1]', '{}', '{"id":1}'],
];

export const UNSTORABLE: readonly string[] = [
  '\\u0000',
  'a\\u0000b',
  '\\ud800',
  '\\udc00',
  'a\\ud83c',
  '\\udf31\\ud83c',
  '\\ud800x\\udc00',
];

/** Rejected bodies. */
export const bodyCases: readonly HttpCase[] = [
  ...casesFor(NOT_JSON, 'responds 40001 to invalid JSON: %s', async (service, toBody) => {
    const id = randomId();
    expectOutcome(await service.create(toBody(id)), 40001);
    expectOutcome(await service.create(newPlant({ name: 'not the rejected one' }, id)), 200);
  }),
  ...casesFor(
    {
      'with Content-Length: 0': ['Content-Length', '0', ''],
      'of no chunks': ['Transfer-Encoding', 'chunked', '0\r\n\r\n'],
    },
    'responds 40001 to an empty body %s',
    async (service, [name = '', value, body]) => expectOutcome(await service.create(body, { [name]: value }), 40001),
  ),
  ...casesFor(NOT_A_NEW_PLANT, 'responds 40002 to an invalid NewPlant: %s', async (service, body) =>
    expectOutcome(await service.create(body), 40002),
  ),
  ...INVALID_IDS.map((id) =>
    plantStoreCase(`responds 40002 to the id ${id.slice(0, 40)}, and names the field`, async (service) => {
      const response = await service.create(newPlant({}, id));
      expectOutcome(response, 40002);
      expectThat(/\bid\b/.test(messageOf(response)), 'a message with id', response);
    }),
  ),
  plantStoreCase('responds 40002 to ids of a million digits', async (service) => {
    for (const id of ['9'.repeat(1_000_000), `1${'0'.repeat(1_000_000)}`, `0.${'1'.repeat(1_000_000)}`])
      expectOutcome(await service.create(newPlant({}, id)), 40002);
  }),
  ...['name', 'tag'].flatMap((field) =>
    UNSTORABLE.map((text) =>
      plantStoreCase(`responds 40003 to a ${field} with ${text}, and names the field`, async (service) => {
        const id = randomId();
        const response = await service.create(`{"id":${id},"name":"x","${field}":"${text}"}`);
        expectOutcome(response, 40003);
        expectThat(new RegExp(`\\b${field}\\b`).test(messageOf(response)), `a message with ${field}`, response);
        expectOutcome(await service.create(newPlant({ name: 'another' }, id)), 200);
      }),
    ),
  ),
  plantStoreCase('names every invalid field in one message', async (service) => {
    const response = await service.create('{"id":"1","tag":7}');
    expectOutcome(response, 40002);
    const message = messageOf(response);
    const isComplete = ['id', 'name', 'tag'].every((field) => new RegExp(`\\b${field}\\b`).test(message));
    expectThat(isComplete, 'a message with id, name and tag', response);
  }),
];

function messageOf({ body }: { readonly body: string }): string {
  return `${parseObject(body)?.['message']}`;
}
