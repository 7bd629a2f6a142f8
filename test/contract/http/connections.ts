import type { Cases } from '../contract.js';
import { expectOutcome, expectThat, type Headers, newPlant, parseObject, randomId, type Service } from './service.js';

const NO_CREDENTIAL = { Authorization: undefined };
const WRONG_TOKEN = { Authorization: 'Bearer wrong' };
const OTHER_TYPE = { 'Content-Type': 'text/plain' };
const CHUNKED = { 'Transfer-Encoding': 'chunked' };

/** Expects a rejection without the body, also if the client waits for `100 Continue`, which is not sent. */
const isRejectedByHead =
  (error: number, headers: Headers, startLine = 'POST /plants') =>
  async (service: Service) => {
    for (const expect of [{}, { Expect: '100-continue' }]) {
      const head = service.authorized(startLine, { 'Content-Length': '1000000', ...expect, ...headers });
      expectOutcome(await (await service.connect(head)).read(), error);
    }
  };

/** Expects a rejection, and that the rest of the body is discarded. */
const isDiscarded = (error: number, headers: Headers, body: string) => async (service: Service) => {
  const connection = (await service.connect(service.post('', headers))).send(body);
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
  'waits for no body, and sends no 100 Continue, with an unknown coding': isRejectedByHead(41501, {
    'Content-Encoding': 'zstd',
  }),
  'waits for no body, and sends no 100 Continue, if it is too large': isRejectedByHead(41301, {
    'Content-Length': '1048577',
  }),
  'discards a large body without a credential, then processes the next request': isDiscarded(
    40101,
    { ...NO_CREDENTIAL, 'Content-Length': '8000000' },
    'x'.repeat(8_000_000),
  ),
  'discards a large body in chunks, then processes the next request': isDiscarded(
    41301,
    CHUNKED,
    `200000\r\n${' '.repeat(0x200000)}\r\n0\r\n\r\n`,
  ),
  'sends 100 Continue for Expect: 100-Continue, then creates the plant': async (service) => {
    const body = newPlant();
    const head = service.post('', { Expect: '100-Continue', 'Content-Length': `${body.length}` });
    const connection = await service.connect(head);
    const response = await connection.read();
    expectThat(response?.status === 100, '100', response);
    expectOutcome(await connection.send(body).read(), 200);
  },
  'accepts a body that is sent without waiting for 100 Continue': (service) =>
    service.expectCreate(200, newPlant(), { Expect: '100-continue' }),
  'responds 41701 to another Expect': async (service) => {
    for (const expect of ['x', '100-continue, x']) await service.expectCreate(41701, newPlant(), { Expect: expect });
  },
};

const LAST = { Connection: 'close' };

/** Expects that headers lead to a rejection, and that the body, which is another request, is not executed. */
const isSkipped = (error: number, headers: Headers) => async (service: Service) => {
  const id = randomId();
  const hidden = service.post(newPlant({}, id));
  const head = service.post('', { ...headers, 'Content-Length': `${hidden.length}` });
  const next = service.post(newPlant({ name: 'another' }, id), LAST);
  await service.expectToEnd([error, 200], Buffer.concat([head, hidden, next]));
};

/** Pipelining and persistent connections. */
export const pipelineCases: Cases<Service> = {
  'responds to 16 pipelined requests in order': async (service) => {
    const names = Array.from({ length: 16 }, (_, index) => `plant ${index}`);
    const connection = await service.connect(Buffer.concat(names.map((name) => service.post(newPlant({ name })))));
    for (const expected of names) {
      const response = expectOutcome(await connection.read(), 200);
      expectThat(parseObject(response.body)?.['name'] === expected, `the name ${expected}`, response);
    }
  },
  'responds to pipelined requests in order, including rejections': async (service) => {
    const requests = [
      service.post(),
      service.request('GET /plants'),
      service.post('{'),
      service.post(newPlant(), NO_CREDENTIAL),
      service.post(),
      service.post('[]', LAST),
    ];
    await service.expectToEnd([200, 40501, 40001, 40101, 200, 40002], Buffer.concat(requests));
  },
  'responds 405 to CONNECT after the requests before it, and closes the connection': (service) =>
    service.expectToEnd([200, 40501], Buffer.concat([service.post(), service.request('CONNECT plants.example:443')])),
  'responds to a valid request before garbage, then closes the connection': (service) =>
    service.expectToEnd([200], Buffer.concat([service.post(), Buffer.from('garbage\r\n\r\n')])),
  'skips a request in a body without a credential, and processes the next': isSkipped(40101, NO_CREDENTIAL),
  'skips a request in a body with a wrong token, and processes the next': isSkipped(40102, WRONG_TOKEN),
  'skips a request in a body of another media type, and processes the next': isSkipped(41501, OTHER_TYPE),
};
