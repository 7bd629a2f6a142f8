import type { Cases } from '../contract.js';
import { expectOutcome, expectThat, type Headers, newPlant, randomId, received, type Service } from './service.js';

const NO_CREDENTIAL = { Authorization: undefined };
const WRONG_TOKEN = { Authorization: 'Bearer x' };
const OTHER_TYPE = { 'Content-Type': 'text/plain' };
const CHUNKED = { 'Transfer-Encoding': 'chunked' };
const UNKNOWN_CODING = { 'Content-Encoding': 'zstd' };

/** Expects a rejection without the body, also if the client waits for `100 Continue`, which is not sent. */
const isRejectedByHead =
  (error: number, headers: Headers, startLine = 'POST /plants') =>
  async (service: Service) => {
    for (const expect of [{}, { Expect: '100-continue' }]) {
      const bytes = service.authorized(startLine, { 'Content-Length': '1000000', ...expect, ...headers });
      expectOutcome(await (await service.connect()).send(bytes).read(), error);
    }
  };

/** Expects a rejection, and that the rest of the body is discarded. */
const isDiscarded = (error: number, headers: Headers, body: string) => async (service: Service) => {
  const connection = (await service.connect()).send(service.post('', headers)).send(body);
  expectOutcome(await connection.read(), error);
  expectOutcome(await connection.send(service.post()).read(), 200);
};

/** Responses sent before the body has arrived, and `Expect: 100-continue` (RFC 9110 §10.1.1). */
export const earlyRejectionCases: Cases<Service> = {
  'waits for no body, and sends no 100 Continue, on an unknown path': isRejectedByHead(40401, {}, 'POST /plant'),
  'waits for no body, and sends no 100 Continue, for another method': isRejectedByHead(40501, {}, 'PUT /plants'),
  'waits for no body, and sends no 100 Continue, without a credential': isRejectedByHead(40101, NO_CREDENTIAL),
  'waits for no chunks, and sends no 100 Continue, without a credential': isRejectedByHead(40101, {
    ...NO_CREDENTIAL,
    ...CHUNKED,
    'Content-Length': undefined,
  }),
  'waits for no body, and sends no 100 Continue, with a wrong token': isRejectedByHead(40102, WRONG_TOKEN),
  'waits for no body, and sends no 100 Continue, with another media type': isRejectedByHead(41501, OTHER_TYPE),
  'waits for no body, and sends no 100 Continue, with an unknown coding': isRejectedByHead(41501, UNKNOWN_CODING),
  'waits for no body, and sends no 100 Continue, if it is too large': isRejectedByHead(41301, {
    'Content-Length': '1048577',
  }),
  'discards a large body without a credential, then processes the next request': isDiscarded(
    ...([40101, { ...NO_CREDENTIAL, 'Content-Length': '8000000' }, 'x'.repeat(8_000_000)] as const),
  ),
  'discards a large body in chunks, then processes the next request': isDiscarded(
    ...([41301, { 'Transfer-Encoding': 'chunked' }, `200000\r\n${' '.repeat(0x200000)}\r\n0\r\n\r\n`] as const),
  ),
  'sends 100 Continue for Expect: 100-Continue, then creates the plant': async (service) => {
    const body = newPlant();
    const connection = await service.connect();
    connection.send(service.post('', { Expect: '100-Continue', 'Content-Length': `${body.length}` }));
    const response = received(await connection.read());
    expectThat(response.status === 100, '100', response);
    expectOutcome(await connection.send(body).read(), 200);
  },
  'accepts a body that is sent without waiting for 100 Continue': (service) =>
    service.expectCreate(200, newPlant(), { Expect: '100-continue' }),
  'responds 41701 to another Expect': async (service) => {
    for (const expect of ['x', '100-continue, x']) await service.expectCreate(41701, newPlant(), { Expect: expect });
  },
};

const TOO_LARGE = 'x'.repeat(1024 ** 2 + 1);
const NOT_UTF_8 = Buffer.from('{"id":1,"name":7,"x":"\xff"}', 'latin1');

/** Precedence of errors: each request has two, and the response has the one that is checked first. */
export const orderCases: Cases<Service> = {
  'checks the path before the method': (service) => service.expect(40401, service.request('GET /plant')),
  'checks the path before the credential': (service) => service.expect(40401, service.request('POST /plant')),
  'checks the method before the credential': (service) => service.expect(40501, service.request('PUT /plants')),
  'checks the credential before Expect': (service) =>
    service.expectCreate(40101, '', { ...NO_CREDENTIAL, Expect: 'x' }),
  'checks the credential before the media type': (service) =>
    service.expectCreate(40101, '', { ...NO_CREDENTIAL, ...OTHER_TYPE }),
  'checks the token before the size': (service) => service.expectCreate(40102, TOO_LARGE, WRONG_TOKEN),
  'checks the media type before the size': (service) => service.expectCreate(41501, TOO_LARGE, OTHER_TYPE),
  'checks Content-Encoding before the size': (service) => service.expectCreate(41501, TOO_LARGE, UNKNOWN_CODING),
  'checks the media type before the JSON': (service) => service.expectCreate(41501, '{', OTHER_TYPE),
  'checks the size before the JSON': (service) => service.expectCreate(41301, TOO_LARGE),
  'checks UTF-8 before the schema': (service) => service.expectCreate(40001, NOT_UTF_8),
  'checks the JSON before the schema': (service) => service.expectCreate(40001, '{"id":"1",}'),
  'checks the schema before the domain rules': (service) =>
    service.expectCreate(40002, '{"id":1,"name":null,"tag":"\\u0000"}'),
  'checks the domain rules before the storage': async (service) => {
    const id = randomId();
    await service.expectCreate(200, newPlant({}, id));
    await service.expectCreate(40003, newPlant({ name: '\0' }, id));
  },
};
