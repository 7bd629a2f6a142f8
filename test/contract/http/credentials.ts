import { casesFor, outcomeCase, plantStoreCase } from './case.js';
import { expectHeader, expectOutcome, expectThat, newPlant, randomId, type Service } from './service.js';
import type { HttpCase } from './types.js';

const ACCEPTED: Readonly<Record<string, (token: string) => string>> = {
  'the scheme bearer': (token) => `bearer ${token}`,
  'the scheme BEARER': (token) => `BEARER ${token}`,
  'several spaces after the scheme': (token) => `Bearer   ${token}`,
};

const NO_BEARER_TOKEN: Readonly<Record<string, (token: string) => string | undefined>> = {
  'no Authorization': () => undefined,
  'an empty Authorization': () => '',
  'a token without scheme': (token) => token,
  'the scheme alone': () => 'Bearer',
  'no space after the scheme': (token) => `Bearer${token}`,
  'two tokens': (token) => `Bearer ${token} ${token}`,
  'a colon after the scheme': (token) => `Bearer: ${token}`,
  'the scheme Basic': (token) => `Basic ${btoa(`user:${token}`)}`,
  'the scheme Token': (token) => `Token ${token}`,
  'the scheme XBearer': (token) => `XBearer ${token}`,
};

const INVALID: Readonly<Record<string, (token: string) => string>> = {
  'another token': () => 'bm90LXRoZS10b2tlbg',
  'a token without its last character': (token) => token.slice(0, -1),
  'a token without its first character': (token) => token.slice(1),
  'a token followed by a character': (token) => `${token}x`,
  'a token in another letter case': inAnotherCase,
  'a token twice': (token) => token + token,
  'a long token': () => 'x'.repeat(5000),
  'the name of an object member': () => '__proto__',
};

/** Returns the token in upper case or, if it is already, in lower case; with another character if it has no letters. */
function inAnotherCase(token: string): string {
  if (!/[a-z]/i.test(token)) return `${token}x`;
  return token === token.toUpperCase() ? token.toLowerCase() : token.toUpperCase();
}

/** Asserts that a create with this header is rejected and stores nothing. */
async function expectRejected(service: Service, authorization: string | undefined, error: number) {
  const id = randomId();
  expectOutcome(await service.create(newPlant({ name: 'rejected' }, id), { Authorization: authorization }), error);
  expectOutcome(await service.create(newPlant({ name: 'accepted' }, id)), 200);
}

/** Authentication by bearer token. */
export const credentialCases: readonly HttpCase[] = [
  ...casesFor(ACCEPTED, 'accepts a token with %s', async (service, authorize) =>
    expectOutcome(await service.create(newPlant(), { Authorization: authorize(service.token) }), 200),
  ),
  ...casesFor(NO_BEARER_TOKEN, 'responds 40101 to a request with %s, and stores nothing', (service, authorize) =>
    expectRejected(service, authorize(service.token), 40101),
  ),
  ...casesFor(INVALID, 'responds 40102 to %s, and stores nothing', (service, derive) =>
    expectRejected(service, `Bearer ${derive(service.token)}`, 40102),
  ),
  plantStoreCase('sends WWW-Authenticate with 40101', async (service) => {
    for (const authorization of [undefined, `Basic ${btoa('garden:garden')}`]) {
      const response = await service.create(newPlant(), { Authorization: authorization });
      expectHeader(response, 'WWW-Authenticate', 'Bearer realm="plant-store"');
    }
  }),
  plantStoreCase('sends WWW-Authenticate with invalid_token with 40102', async (service) => {
    const response = await service.create(newPlant(), { Authorization: `Bearer ${service.token}x` });
    expectHeader(response, 'WWW-Authenticate', 'Bearer realm="plant-store", error="invalid_token"');
  }),
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
