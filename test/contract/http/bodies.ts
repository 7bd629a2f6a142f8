import { casesFor, plantStoreCase } from './case.js';
import type { HttpResponse } from './connection.js';
import { expectOutcome, expectThat, newPlant, parseObject, randomId } from './service.js';
import type { HttpCase } from './types.js';

/** Bodies that are not one JSON text in UTF-8. Many contain the given id, which is free. */
const NOT_JSON: Readonly<Record<string, (id: bigint) => string | Uint8Array>> = {
  'absent, without Content-Length or chunks': () => '',
  'two byte order marks': (id) => `\ufeff\ufeff{"id":${id},"name":"x"}`,
  'followed by a second JSON text': (id) => `{"id":${id},"name":"x"}{"id":2,"name":"x"}`,
  'with a trailing comma': (id) => `{"id":${id},"name":"x",}`,
  'with a byte that is never UTF-8, in an unknown field': (id) =>
    Buffer.from(`{"id":${id},"name":"x","y":"\xff"}`, 'latin1'),
  'in UTF-16': (id) => Buffer.from(`\ufeff{"id":${id},"name":"x"}`, 'utf16le'),
};

/** JSON texts that are not a NewPlant. */
const NOT_A_NEW_PLANT: Readonly<Record<string, string>> = {
  'an array of plants': '[{"id":1,"name":"x"}]',
  'without id': '{"name":"x"}',
  'without name': '{"id":1}',
  'with the fields in another letter case': '{"ID":1,"Name":"x"}',
  'with a number as its name': '{"id":1,"name":7}',
  'with tag null': '{"id":1,"name":"x","tag":null}',
  'with two ids, the last a fraction under an escaped key': '{"id":1,"\\u0069d":1.5,"name":"x"}',
};

const INVALID_IDS: Readonly<Record<string, readonly string[]>> = {
  'a fraction': ['1.5', '-0.1', '1e-1', '1e-400', '9007199254740992.5', '9223372036854775807.5'],
  'a number outside int64': ['9223372036854775808', '-9223372036854775809', '18446744073709551616', '1e19', '1e400'],
  'a million digits': ['9'.repeat(1_000_000), `1${'0'.repeat(1_000_000)}`, `0.${'1'.repeat(1_000_000)}`],
  'another type': ['"1"', 'null', 'true', '[1]', '{"id":1}'],
};

const UNSTORABLE: Readonly<Record<string, readonly string[]>> = {
  'U+0000': ['\\u0000', 'a\\u0000b'],
  'a lone surrogate': ['\\ud800', 'a\\ud83c', '\\udf31\\ud83c', '\\ud800x\\udc00'],
};

/** Rejected bodies. */
export const bodyCases: readonly HttpCase[] = [
  ...casesFor(NOT_JSON, 'responds 40001 to invalid JSON: %s', async (service, toBody) => {
    const id = randomId();
    expectOutcome(await service.create(toBody(id)), 40001);
    expectOutcome(await service.create(newPlant({ name: 'not the rejected one' }, id)), 200);
  }),
  plantStoreCase('responds 40001 to an empty body, with Content-Length or chunks', async (service) => {
    expectOutcome(await service.create('', { 'Content-Length': '0' }), 40001);
    expectOutcome(await service.create('0\r\n\r\n', { 'Transfer-Encoding': 'chunked' }), 40001);
  }),
  ...casesFor(NOT_A_NEW_PLANT, 'responds 40002 to an invalid NewPlant: %s', async (service, body) =>
    expectOutcome(await service.create(body), 40002),
  ),
  ...casesFor(INVALID_IDS, 'responds 40002 to an id that is %s, and names the field', async (service, ids) => {
    for (const id of ids) expectField('id', await service.create(newPlant({}, id)), 40002);
  }),
  ...['name', 'tag'].flatMap((field) =>
    casesFor(UNSTORABLE, `responds 40003 to a ${field} with %s, and names the field`, async (service, texts) => {
      for (const text of texts) {
        const id = randomId();
        expectField(field, await service.create(`{"id":${id},"name":"x","${field}":"${text}"}`), 40003);
        expectOutcome(await service.create(newPlant({ name: 'another' }, id)), 200);
      }
    }),
  ),
  plantStoreCase('names every invalid field in one message', async (service) => {
    const response = await service.create('{"id":"1","tag":7}');
    for (const field of ['id', 'name', 'tag']) expectField(field, response, 40002);
  }),
];

/** Asserts an error whose message names the field. */
function expectField(field: string, response: HttpResponse, error: number): void {
  expectOutcome(response, error);
  const message = `${parseObject(response.body)?.['message']}`;
  expectThat(new RegExp(`\\b${field}\\b`).test(message), `a message with ${field}`, response);
}
