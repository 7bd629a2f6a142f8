import type { Cases } from '../contract.js';
import { expectHeader, expectOutcome, expectThat, newPlant, type Service } from './service.js';

/** Expects the outcome of a create at each target. */
const areTargets =
  (outcome: number, ...targets: readonly string[]) =>
  async (service: Service) => {
    for (const target of targets) await service.expect(outcome, service.authorized(`POST ${target}`, {}, newPlant()));
  };

/** Paths and methods. */
export const pathCases: Cases<Service> = {
  'ignores the query': areTargets(200, '/plants?', '/plants?id=7&name=x', '/plants??/'),
  'responds 40401 to a path in another letter case': areTargets(40401, '/PLANTS', '/Plants', '/openapi.JSON'),
  'responds 40401 to a path with other slashes': areTargets(40401, '/plants/', '//plants', '/plants//'),
  'responds 40401 to a longer or shorter path': areTargets(
    ...([40401, '/plants/1/x', '/plants.json', '/plants;v=1', '/plant'] as const),
  ),
  'responds 40401 to dot segments': areTargets(40401, '/./plants', '/plants/../plants'),
  'responds 40401 to percent escapes': areTargets(40401, '/%70lants', '/plants%2F', '/plants%00'),
  'accepts a target with scheme and host (RFC 9112 §3.2.2)': (service) =>
    areTargets(200, `${service.baseUrl.origin}${service.prefix}/plants`)(service),
  'responds 40401 to the target *': (service) => service.expect(40401, service.authorized('OPTIONS *')),
  'responds 40501 with Allow to other methods': async (service) => {
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'])
      expectHeader(await service.expect(40501, service.authorized(`${method} /plants`)), 'Allow', 'POST');
  },
  'responds 405 with Allow to HEAD /plants, without a body': async (service) => {
    const connection = await service.connect(service.request('HEAD /plants'));
    const response = await connection.read('HEAD');
    expectThat(response?.status === 405, '405', response);
    expectHeader(response, 'Allow', 'POST');
    expectOutcome(await connection.send(service.request('GET /plants')).read(), 40501);
  },
  'sends no CORS headers, even to a preflight request': async (service) => {
    const origin = { Origin: 'https://garden.example', 'Access-Control-Request-Method': 'POST' };
    for (const request of [service.request('OPTIONS /plants', origin), service.post(newPlant(), origin)]) {
      const response = await service.send(request);
      const names = Object.keys(response.headers).filter((name) => name.startsWith('access-control-'));
      expectThat(names.length === 0, `no header ${names.join()}`, response);
    }
  },
};
