import type { Cases } from '../contract.js';
import { expectHeader, expectThat, newPlant, randomId, type Service } from './service.js';

/** Expects a create with such a header to be rejected with a challenge, and to store nothing. */
const isRejected =
  (error: number, challenge: string, authorize: (token: string) => string | undefined) => async (service: Service) => {
    const id = randomId();
    const headers = { Authorization: authorize(service.token) };
    const response = await service.expectCreate(error, newPlant({ name: 'rejected' }, id), headers);
    expectHeader(response, 'WWW-Authenticate', challenge);
    await service.expectCreate(200, newPlant({ name: 'accepted' }, id));
  };
const isNoCredential = (authorize: (token: string) => string | undefined) =>
  isRejected(40101, 'Bearer realm="plant-store"', authorize);
const isInvalidToken = (derive: (token: string) => string) =>
  isRejected(40102, 'Bearer realm="plant-store", error="invalid_token"', (token) => `Bearer ${derive(token)}`);

/** Authentication by bearer token. */
export const credentialCases: Cases<Service> = {
  'accepts the scheme in any letter case, and several spaces after it': async (service) => {
    for (const scheme of ['bearer ', 'BEARER ', 'Bearer   '])
      await service.expectCreate(200, newPlant(), { Authorization: `${scheme}${service.token}` });
  },
  'responds 40101 to a request without Authorization, and stores nothing': isNoCredential(() => undefined),
  'responds 40101 to a token without scheme, and stores nothing': isNoCredential((token) => token),
  'responds 40101 to the scheme alone, and stores nothing': isNoCredential(() => 'Bearer'),
  'responds 40101 to two tokens, and stores nothing': isNoCredential((token) => `Bearer ${token} ${token}`),
  'responds 40101 to the scheme Basic, and stores nothing': isNoCredential((token) => `Basic ${btoa(`user:${token}`)}`),
  'responds 40102 to another token, and stores nothing': isInvalidToken(() => 'bm90LXRoZS10b2tlbg'),
  'responds 40102 to a token without its last character, and stores nothing': isInvalidToken((token) =>
    token.slice(0, -1),
  ),
  'responds 40102 to a token followed by a character, and stores nothing': isInvalidToken((token) => `${token}x`),
  'responds 40102 to a long token, and stores nothing': isInvalidToken(() => 'x'.repeat(5000)),
  'accepts no token in the query': (service) => {
    const target = `POST /plants?access_token=${encodeURIComponent(service.token)}`;
    return service.expect(40101, service.request(target, { 'Content-Type': 'application/json' }, newPlant()));
  },
  'sends no message with a token, a stack or a path': async (service) => {
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
  },
};
