import { plantStoreCase } from './case.js';
import { expectVerdict, newPlant, randomId, type Service } from './service.js';
import type { HttpCase } from './types.js';

const NO_CREDENTIAL = { Authorization: undefined };
const TOO_LARGE = 'x'.repeat(1024 ** 2 + 1);

/** Requests that break two rules, with the error of the one that is checked first. */
const REQUESTS_WITH_TWO_ERRORS: readonly [
  first: string,
  second: string,
  bytes: (service: Service) => Buffer,
  error: number,
][] = [
  ['the path', 'the method', (service) => service.request('GET /plant'), 40401],
  ['the path', 'the credential', (service) => service.request('POST /plant'), 40401],
  ['the method', 'the credential', (service) => service.request('PUT /plants'), 40501],
  [
    'the credential',
    'the media type',
    (service) => service.post('', { ...NO_CREDENTIAL, 'Content-Type': 'a/b' }),
    40101,
  ],
  [
    'the token',
    'the media type',
    (service) => service.post('', { Authorization: 'Bearer x', 'Content-Type': 'a/b' }),
    40102,
  ],
  ['the credential', 'the size', (service) => service.post(TOO_LARGE, NO_CREDENTIAL), 40101],
  ['the credential', 'the JSON', (service) => service.post('{', NO_CREDENTIAL), 40101],
  ['the media type', 'the size', (service) => service.post(TOO_LARGE, { 'Content-Type': 'text/plain' }), 41501],
  [
    'the charset',
    'the size',
    (service) => service.post(TOO_LARGE, { 'Content-Type': 'application/json; charset=latin1' }),
    41501,
  ],
  ['Content-Encoding', 'the size', (service) => service.post(TOO_LARGE, { 'Content-Encoding': 'zstd' }), 41501],
  ['the media type', 'the JSON', (service) => service.post('{', { 'Content-Type': 'text/plain' }), 41501],
  ['the size', 'the JSON', (service) => service.post(TOO_LARGE), 41301],
  ['UTF-8', 'the schema', (service) => service.post(Buffer.from('{"id":1,"name":7,"x":"\xff"}', 'latin1')), 40001],
  ['the JSON', 'the schema', (service) => service.post('{"id":"1",}'), 40001],
  ['the schema', 'the domain rules', (service) => service.post('{"id":1,"name":null,"tag":"\\u0000"}'), 40002],
  [
    'the range of id',
    'the domain rules',
    (service) => service.post(newPlant({ name: '\0' }, '9223372036854775808')),
    40002,
  ],
];

/** Precedence of errors. */
export const orderCases: readonly HttpCase[] = [
  ...REQUESTS_WITH_TWO_ERRORS.map(([first, second, bytes, error]) =>
    plantStoreCase(`checks ${first} before ${second}`, async (service) =>
      expectVerdict(await service.send(bytes(service)), error),
    ),
  ),
  plantStoreCase('checks the domain rules before the storage', async (service) => {
    const id = randomId();
    expectVerdict(await service.create(newPlant({}, id)), 200);
    expectVerdict(await service.create(newPlant({ name: '\0' }, id)), 40003);
  }),
];
