import { casesFor, plantStoreCase } from './case.js';
import { expectOutcome, newPlant, randomId, type Service } from './service.js';
import type { HttpCase } from './types.js';

const NO_CREDENTIAL = { Authorization: undefined };
const WRONG_TOKEN = { Authorization: 'Bearer x' };
const OTHER_TYPE = { 'Content-Type': 'text/plain' };
const LATIN_1 = { 'Content-Type': 'application/json; charset=latin1' };
const TOO_LARGE = 'x'.repeat(1024 ** 2 + 1);
const NOT_UTF_8 = Buffer.from('{"id":1,"name":7,"x":"\xff"}', 'latin1');

/** Requests that break two rules, with the error of the one that is checked first. */
const WITH_TWO_ERRORS: Readonly<Record<string, readonly [error: number, toBytes: (service: Service) => Buffer]>> = {
  'the path before the method': [40401, (service) => service.request('GET /plant')],
  'the path before the credential': [40401, (service) => service.request('POST /plant')],
  'the method before the credential': [40501, (service) => service.request('PUT /plants')],
  'the credential before the media type': [40101, (service) => service.post('', { ...NO_CREDENTIAL, ...OTHER_TYPE })],
  'the token before the media type': [40102, (service) => service.post('', { ...WRONG_TOKEN, ...OTHER_TYPE })],
  'the credential before the size': [40101, (service) => service.post(TOO_LARGE, NO_CREDENTIAL)],
  'the credential before the JSON': [40101, (service) => service.post('{', NO_CREDENTIAL)],
  'the media type before the size': [41501, (service) => service.post(TOO_LARGE, OTHER_TYPE)],
  'the charset before the size': [41501, (service) => service.post(TOO_LARGE, LATIN_1)],
  'Content-Encoding before the size': [41501, (service) => service.post(TOO_LARGE, { 'Content-Encoding': 'zstd' })],
  'the media type before the JSON': [41501, (service) => service.post('{', OTHER_TYPE)],
  'the size before the JSON': [41301, (service) => service.post(TOO_LARGE)],
  'UTF-8 before the schema': [40001, (service) => service.post(NOT_UTF_8)],
  'the JSON before the schema': [40001, (service) => service.post('{"id":"1",}')],
  'the schema before the domain rules': [40002, (service) => service.post('{"id":1,"name":null,"tag":"\\u0000"}')],
  'the range of id before the domain rules': [40002, (service) => service.post(newPlant({ name: '\0' }, 2n ** 63n))],
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
