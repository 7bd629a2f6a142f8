import { examplesCases, outcomeCase, plantStoreCase } from './case.js';
import { fetchOperations } from './description.js';
import { expectHeader, expectOutcome, expectThat, newPlant, received, type Service } from './service.js';
import type { HttpCase } from './types.js';

const NO_SUCH_PATH = {
  'a path in another letter case': ['/PLANTS', '/Plants', '/openapi.JSON'],
  'a path with other slashes': ['/plants/', '//plants', '/plants//'],
  'a longer or shorter path': ['/plants/1/x', '/plants.json', '/plants;v=1', '/plant'],
  'dot segments': ['/./plants', '/plants/../plants'],
  'percent escapes': ['/%70lants', '/plants%2F', '/plants%00'],
  'a fragment': ['/plants#x'],
};

const createAt = (service: Service, target: string) =>
  service.send(service.authorized(`POST ${target}`, {}, newPlant()));

/** Paths and methods. */
export const pathCases: readonly HttpCase[] = [
  plantStoreCase('ignores the query', async (service) => {
    for (const target of ['/plants?', '/plants?id=7&name=x', '/plants??/'])
      expectOutcome(await createAt(service, target), 200);
  }),
  ...examplesCases(NO_SUCH_PATH, 'responds 40401 to %s', 40401, createAt),
  outcomeCase('responds 40401 to a target with scheme and host', 40401, (service) =>
    createAt(service, `${service.baseUrl.origin}${service.prefix}/plants`),
  ),
  outcomeCase('responds 40401 to the target *', 40401, (service) => service.send(service.authorized('OPTIONS *'))),
  plantStoreCase('responds 40501 with Allow to other methods, on each path', async (service) => {
    const operations = await fetchOperations(service);
    for (const path of new Set(operations.map((operation) => operation.path))) {
      const allowed = operations
        .filter((operation) => operation.path === path)
        .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
        .sort();
      for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'].filter((each) => !allowed.includes(each))) {
        const response = await service.send(service.authorized(`${method} ${path.replaceAll(/\{\w+\}/g, '1')}`));
        expectOutcome(response, 40501, ` for ${method}`);
        expectHeader(response, 'Allow', allowed.join(', '));
      }
    }
  }),
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
      await service.create(newPlant(), origin),
    ]) {
      const names = Object.keys(response.headers).filter((name) => name.startsWith('access-control-'));
      expectThat(names.length === 0, `no header ${names.join()}`, response);
    }
  }),
];
