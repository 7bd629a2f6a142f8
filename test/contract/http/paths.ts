import { outcomeCase, plantStoreCase } from './case.js';
import { fetchOperations } from './description.js';
import { expectHeader, expectOutcome, expectThat, newPlant, received, type Service } from './service.js';
import type { HttpCase } from './types.js';

const NO_SUCH_PATH = [
  ...['/PLANTS', '/Plants', '/plants/', '//plants', '/plants//', '/plants/1/2', '/plants.json'],
  ...['/plants;v=1', '/plant', '/./plants', '/plants/../plants', '/%70lants', '/plants%2F', '/plants%00'],
  ...['/openapi.JSON', '/openapi.json/'],
];

const METHODS = ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

const createAt = (service: Service, target: string) =>
  service.send(service.authorized(`POST ${target}`, {}, newPlant()));

/** Paths and methods. */
export const pathCases: readonly HttpCase[] = [
  ...['/plants?', '/plants?id=7&name=x', '/plants??/'].map((target) =>
    outcomeCase(`ignores the query of ${target}`, 200, (service) => createAt(service, target)),
  ),
  outcomeCase('accepts a target with scheme and host (RFC 9112 §3.2.2)', 200, (service) =>
    createAt(service, `${service.baseUrl.origin}${service.prefix}/plants`),
  ),
  ...NO_SUCH_PATH.map((path) =>
    outcomeCase(`responds 40401 to the path ${path}`, 40401, (service) => createAt(service, path)),
  ),
  ...METHODS.map((method) =>
    plantStoreCase(`responds 40501 with Allow to ${method} on each path without it`, async (service) => {
      const operations = await fetchOperations(service);
      for (const path of new Set(operations.map((operation) => operation.path))) {
        const allowed = operations
          .filter((operation) => operation.path === path)
          .flatMap((operation) => (operation.method === 'GET' ? ['GET', 'HEAD'] : [operation.method]))
          .sort();
        if (allowed.includes(method)) continue;
        const response = await service.send(service.authorized(`${method} ${path.replaceAll(/\{\w+\}/g, '1')}`));
        expectOutcome(response, 40501);
        expectHeader(response, 'Allow', allowed.join(', '));
      }
    }),
  ),
  plantStoreCase('responds 405 with Allow to HEAD /plants, without a body', async (service) => {
    const connection = (await service.connect()).send(service.request('HEAD /plants'));
    const response = received(await connection.read('HEAD'));
    expectThat(response.status === 405, '405', response);
    expectHeader(response, 'Allow', 'POST');
    expectOutcome(await connection.send(service.request('GET /plants')).read(), 40501);
  }),
  plantStoreCase('sends no CORS headers, even to a preflight request', async (service) => {
    const origin = { Origin: 'https://garden.example', 'Access-Control-Request-Method': 'POST' };
    for (const response of [
      await service.send(service.request('OPTIONS /plants', origin)),
      await service.send(service.request('GET /openapi.json', origin)),
      await service.create(newPlant(), origin),
    ]) {
      const names = Object.keys(response.headers).filter((name) => name.startsWith('access-control-'));
      expectThat(names.length === 0, `no header ${names.join()}`, response);
    }
  }),
];
