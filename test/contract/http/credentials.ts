import { casesFor, outcomeCase, plantStoreCase } from './case.js';
import { expectHeader, expectOutcome, expectThat, newPlant, randomId, type Service } from './service.js';
import type { HttpCase } from './types.js';

const NO_BEARER_TOKEN: Readonly<Record<string, (token: string) => string | undefined>> = {
  'no Authorization': () => undefined,
  'a token without scheme': (token) => token,
  'the scheme alone': () => 'Bearer',
  'two tokens': (token) => `Bearer ${token} ${token}`,
  'the scheme Basic': (token) => `Basic ${btoa(`user:${token}`)}`,
};

const INVALID: Readonly<Record<string, (token: string) => string>> = {
  'another token': () => 'bm90LXRoZS10b2tlbg',
  'a token without its last character': (token) => token.slice(0, -1),
  'a token followed by a character': (token) => `${token}x`,
  'a long token': () => 'x'.repeat(5000),
};

/** Asserts that a create with this header is rejected with this challenge, and stores nothing. */
async function expectRejected(service: Service, authorization: string | undefined, error: number, challenge: string) {
  const id = randomId();
  const response = await service.create(newPlant({ name: 'rejected' }, id), { Authorization: authorization });
  expectOutcome(response, error);
  expectHeader(response, 'WWW-Authenticate', challenge);
  expectOutcome(await service.create(newPlant({ name: 'accepted' }, id)), 200);
}

/** Authentication by bearer token. */
export const credentialCases: readonly HttpCase[] = [
  plantStoreCase('accepts the scheme in any letter case, and several spaces after it', async (service) => {
    for (const scheme of ['bearer ', 'BEARER ', 'Bearer   '])
      expectOutcome(await service.create(newPlant(), { Authorization: `${scheme}${service.token}` }), 200);
  }),
  outcomeCase('uses the first of two Authorization headers', 40102, (service) =>
    service.create(newPlant(), { Authorization: 'Bearer wrong', authorization: `Bearer ${service.token}` }),
  ),
  ...casesFor(NO_BEARER_TOKEN, 'responds 40101 to a request with %s, and stores nothing', (service, authorize) =>
    expectRejected(service, authorize(service.token), 40101, 'Bearer realm="plant-store"'),
  ),
  ...casesFor(INVALID, 'responds 40102 to %s, and stores nothing', (service, derive) =>
    expectRejected(
      service,
      `Bearer ${derive(service.token)}`,
      40102,
      'Bearer realm="plant-store", error="invalid_token"',
    ),
  ),
  outcomeCase('accepts no token in the query', 40101, (service) => {
    const target = `POST /plants?access_token=${encodeURIComponent(service.token)}`;
    return service.send(service.request(target, { 'Content-Type': 'application/json' }, newPlant()));
  }),
  plantStoreCase('sends no message with a token, a stack or a path', async (service) => {
    const responses = [
      await service.create(newPlant(), { Authorization: `Bearer ${service.token}x` }),
      await service.create(newPlant(), { Authorization: `Basic ${service.token}` }),
      await service.create('{'),
      await service.create('{}'),
      await service.create(newPlant({ name: '\0' })),
      await service.create(newPlant(), { 'Content-Type': 'text/plain' }),
      await service.send(service.request('GET /plants', { Authorization: `Bearer ${service.token}` })),
      await service.send(service.request(`GET /${service.token}`)),
    ];
    for (const response of responses) {
      const isClean = !response.body.includes(service.token) && !/\bat .+:\d+|\n|\/\w+\/\w+/.test(response.body);
      expectThat(isClean, 'a message without token, stack and path', response);
    }
  }),
];
