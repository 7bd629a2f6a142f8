import type { Cases } from '../contract.js';
import { expectThat, newPlant, parseObject, randomId, type Service } from './service.js';

/** Expects 40001 to a body with a free id, which stays free. */
const isNotJson = (toBody: (id: bigint) => string | Uint8Array) => async (service: Service) => {
  const id = randomId();
  await service.expectCreate(40001, toBody(id));
  await service.expectCreate(200, newPlant({ name: 'another' }, id));
};

const isNoNewPlant = (body: string) => (service: Service) => service.expectCreate(40002, body);

const areNoIds =
  (...ids: readonly string[]) =>
  async (service: Service) => {
    for (const id of ids) await expectFields(['id'], service, 40002, newPlant({}, id));
  };

const isUnstorable =
  (...texts: readonly string[]) =>
  async (service: Service) => {
    for (const text of texts) {
      for (const field of ['name', 'tag']) {
        const id = randomId();
        await expectFields([field], service, 40003, `{"id":${id},"name":"x","${field}":"${text}"}`);
        await service.expectCreate(200, newPlant({ name: 'another' }, id));
      }
    }
  };

/** Asserts an error whose message names the fields. */
async function expectFields(fields: readonly string[], service: Service, error: number, body: string): Promise<void> {
  const response = await service.expectCreate(error, body);
  const message = `${parseObject(response.body)?.['message']}`;
  for (const field of fields) expectThat(RegExp(`\\b${field}\\b`).test(message), `a message with ${field}`, response);
}

/** Rejected bodies. */
export const bodyCases: Cases<Service> = {
  'responds 40001 to an empty body, with Content-Length, chunks or neither': async (service) => {
    await service.expectCreate(40001, '');
    await service.expectCreate(40001, '', { 'Content-Length': '0' });
    await service.expectCreate(40001, '0\r\n\r\n', { 'Transfer-Encoding': 'chunked' });
  },
  'responds 40001 to two byte order marks': isNotJson((id) => `\ufeff\ufeff{"id":${id},"name":"x"}`),
  'responds 40001 to two JSON texts': isNotJson((id) => `{"id":${id},"name":"x"}{"id":2,"name":"x"}`),
  'responds 40001 to a trailing comma': isNotJson((id) => `{"id":${id},"name":"x",}`),
  'responds 40001 to a byte that is never UTF-8, in an unknown field': isNotJson((id) =>
    Buffer.from(`{"id":${id},"name":"x","y":"\xff"}`, 'latin1'),
  ),
  'responds 40001 to UTF-16': isNotJson((id) => Buffer.from(`\ufeff{"id":${id},"name":"x"}`, 'utf16le')),

  'responds 40002 to an array of plants': isNoNewPlant('[{"id":1,"name":"x"}]'),
  'responds 40002 to a body without id': isNoNewPlant('{"name":"x"}'),
  'responds 40002 to a body without name': isNoNewPlant('{"id":1}'),
  'responds 40002 to fields in another letter case': isNoNewPlant('{"ID":1,"Name":"x"}'),
  'responds 40002 to a number as the name': isNoNewPlant('{"id":1,"name":7}'),
  'responds 40002 to the tag null': isNoNewPlant('{"id":1,"name":"x","tag":null}'),
  'responds 40002 to two ids, the last a fraction under an escaped key': isNoNewPlant(
    '{"id":1,"\\u0069d":1.5,"name":"x"}',
  ),
  'names every invalid field in one message': (service) =>
    expectFields(['id', 'name', 'tag'], service, 40002, '{"id":"1","tag":7}'),

  'responds 40002 to an id that is a fraction': areNoIds(
    ...['1.5', '-0.1', '1e-1', '1e-400', '9007199254740992.5', '9223372036854775807.5'],
  ),
  'responds 40002 to an id outside int64': areNoIds(
    ...['9223372036854775808', '-9223372036854775809', '18446744073709551616', '1e19', '1e400'],
  ),
  'responds 40002 to an id of a million digits': areNoIds(
    ...['9'.repeat(1_000_000), `1${'0'.repeat(1_000_000)}`, `0.${'1'.repeat(1_000_000)}`],
  ),
  'responds 40002 to an id of another type': areNoIds('"1"', 'null', 'true', '[1]', '{"id":1}'),
  'responds 40003 to U+0000 in a name or tag': isUnstorable('\\u0000', 'a\\u0000b'),
  'responds 40003 to a lone surrogate in a name or tag': isUnstorable(
    ...['\\ud800', 'a\\ud83c', '\\udf31\\ud83c', '\\ud800x\\udc00'],
  ),
};
