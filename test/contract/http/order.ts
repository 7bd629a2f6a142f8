import { casesFor, examplesCases, outcomeCase, plantStoreCase } from './case.js';
import { expectOutcome, expectThat, type Headers, newPlant, randomId, received, type Service } from './service.js';
import type { HttpCase } from './types.js';

const NO_CREDENTIAL = { Authorization: undefined };
const WRONG_TOKEN = { Authorization: 'Bearer x' };
const OTHER_TYPE = { 'Content-Type': 'text/plain' };
const EXPECT = { Expect: '100-continue' };

/** Requests that are rejected because of their heads. */
const BY_HEAD: Readonly<Record<string, readonly [headers: Headers, error: number, startLine?: string]>> = {
  'an unknown path': [{}, 40401, 'POST /plant'],
  'another method': [{}, 40501, 'PUT /plants'],
  'no credential': [NO_CREDENTIAL, 40101],
  'no credential, and chunks': [
    { ...NO_CREDENTIAL, 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' },
    40101,
  ],
  'a wrong token': [WRONG_TOKEN, 40102],
  'another media type': [OTHER_TYPE, 41501],
  'an unknown Content-Encoding': [{ 'Content-Encoding': 'zstd' }, 41501],
  'a body that is too large': [{ 'Content-Length': '1048577' }, 41301],
};

/** Responses sent before the body has arrived, and `Expect: 100-continue` (RFC 9110 §10.1.1). */
export const earlyRejectionCases: readonly HttpCase[] = [
  ...casesFor(
    BY_HEAD,
    'rejects a request with %s without waiting for a body, and sends no 100 Continue',
    async (service, [headers, error, startLine = 'POST /plants']) => {
      for (const expect of [{}, EXPECT]) {
        const bytes = service.authorized(startLine, { 'Content-Length': '1000000', ...expect, ...headers });
        expectOutcome(await (await service.connect()).send(bytes).read(), error);
      }
    },
  ),
  ...casesFor(
    {
      'without a credential': [{ ...NO_CREDENTIAL, 'Content-Length': '8000000' }, 'x'.repeat(8_000_000), 40101],
      'in chunks': [{ 'Transfer-Encoding': 'chunked' }, `200000\r\n${' '.repeat(0x200000)}\r\n0\r\n\r\n`, 41301],
    } as const,
    'discards a large rejected body %s, then processes the next request',
    async (service, [headers, body, error]) => {
      const connection = (await service.connect()).send(service.post('', headers)).send(body);
      expectOutcome(await connection.read(), error);
      expectOutcome(await connection.send(service.post()).read(), 200);
    },
  ),

  plantStoreCase('sends 100 Continue for Expect: 100-Continue, then creates the plant', async (service) => {
    const body = newPlant();
    const connection = await service.connect();
    connection.send(service.post('', { Expect: '100-Continue', 'Content-Length': `${body.length}` }));
    const response = received(await connection.read());
    expectThat(response.status === 100, '100', response);
    expectOutcome(await connection.send(body).read(), 200);
  }),
  outcomeCase('accepts a body that is sent without waiting for 100 Continue', 200, (service) =>
    service.create(newPlant(), EXPECT),
  ),
  ...examplesCases({ Expect: ['x', '100-continue, x'] }, 'responds 41701 to another %s', 41701, (service, expect) =>
    service.create(newPlant(), { Expect: expect }),
  ),
];

const TOO_LARGE = 'x'.repeat(1024 ** 2 + 1);
const NOT_UTF_8 = Buffer.from('{"id":1,"name":7,"x":"\xff"}', 'latin1');

/** Requests that break two rules, with the error of the one that is checked first. */
const WITH_TWO_ERRORS: Readonly<Record<string, readonly [error: number, toBytes: (service: Service) => Buffer]>> = {
  'the path before the method': [40401, (service) => service.request('GET /plant')],
  'the path before the credential': [40401, (service) => service.request('POST /plant')],
  'the method before the credential': [40501, (service) => service.request('PUT /plants')],
  'the credential before Expect': [40101, (service) => service.post('', { ...NO_CREDENTIAL, Expect: 'x' })],
  'the credential before the media type': [40101, (service) => service.post('', { ...NO_CREDENTIAL, ...OTHER_TYPE })],
  'the token before the size': [40102, (service) => service.post(TOO_LARGE, WRONG_TOKEN)],
  'the media type before the size': [41501, (service) => service.post(TOO_LARGE, OTHER_TYPE)],
  'Content-Encoding before the size': [41501, (service) => service.post(TOO_LARGE, { 'Content-Encoding': 'zstd' })],
  'the media type before the JSON': [41501, (service) => service.post('{', OTHER_TYPE)],
  'the size before the JSON': [41301, (service) => service.post(TOO_LARGE)],
  'UTF-8 before the schema': [40001, (service) => service.post(NOT_UTF_8)],
  'the JSON before the schema': [40001, (service) => service.post('{"id":"1",}')],
  'the schema before the domain rules': [40002, (service) => service.post('{"id":1,"name":null,"tag":"\\u0000"}')],
};

/** Precedence of errors. */
export const orderCases: readonly HttpCase[] = [
  ...casesFor(WITH_TWO_ERRORS, 'checks %s', async (service, [error, toBytes]) =>
    expectOutcome(await service.send(toBytes(service)), error),
  ),
  plantStoreCase('checks the domain rules before the storage', async (service) => {
    const id = randomId();
    expectOutcome(await service.create(newPlant({}, id)), 200);
    expectOutcome(await service.create(newPlant({ name: '\0' }, id)), 40003);
  }),
];
