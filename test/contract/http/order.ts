import type { Cases } from '../contract.js';
import { type Headers, newPlant, randomId, type Service } from './service.js';

const NO_CREDENTIAL = { Authorization: undefined };
const OTHER_TYPE = { 'Content-Type': 'text/plain' };
const TOO_LARGE = 'x'.repeat(1024 ** 2 + 1);
const NOT_UTF_8 = Buffer.from('{"id":1,"name":7,"x":"\xff"}', 'latin1');

const isCreate = (error: number, body: string | Uint8Array, headers?: Headers) => (service: Service) =>
  service.expectCreate(error, body, headers);
const isRequest = (error: number, startLine: string) => (service: Service) =>
  service.expect(error, service.request(startLine));

/** Precedence of errors: each request has two, and the response has the one that is checked first. */
export const orderCases: Cases<Service> = {
  'checks the path before the method': isRequest(40401, 'GET /plant'),
  'checks the path before the credential': isRequest(40401, 'POST /plant'),
  'checks the method before the credential': isRequest(40501, 'PUT /plants'),
  'checks the credential before Expect': isCreate(40101, '', { ...NO_CREDENTIAL, Expect: 'x' }),
  'checks the credential before the media type': isCreate(40101, '', { ...NO_CREDENTIAL, ...OTHER_TYPE }),
  'checks the token before the size': isCreate(40102, TOO_LARGE, { Authorization: 'Bearer x' }),
  'checks the media type before the size': isCreate(41501, TOO_LARGE, OTHER_TYPE),
  'checks Content-Encoding before the size': isCreate(41501, TOO_LARGE, { 'Content-Encoding': 'zstd' }),
  'checks the media type before the JSON': isCreate(41501, '{', OTHER_TYPE),
  'checks the size before the JSON': isCreate(41301, TOO_LARGE),
  'checks UTF-8 before the schema': isCreate(40001, NOT_UTF_8),
  'checks the JSON before the schema': isCreate(40001, '{"id":"1",}'),
  'checks the schema before the domain rules': isCreate(40002, '{"id":1,"name":null,"tag":"\\u0000"}'),
  'checks the domain rules before the storage': async (service) => {
    const id = randomId();
    await service.expectCreate(200, newPlant({}, id));
    await service.expectCreate(40003, newPlant({ name: '\0' }, id));
  },
};
