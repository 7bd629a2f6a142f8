import { casesFor, plantStoreCase } from './case.js';
import { expectThat, type Headers, newPlant, parseObject, randomId, received } from './service.js';
import type { HttpCase } from './types.js';

const LAST = { Connection: 'close' };
/** Maximum number of requests without a response on a connection. */
const PIPELINED = 16;

/** Headers that cause a rejection before the body, which contains another request. */
const REJECTED_BODIES: Readonly<Record<string, readonly [headers: Headers, error: number]>> = {
  'no credential': [{ Authorization: undefined }, 40101],
  'a wrong token': [{ Authorization: 'Bearer wrong' }, 40102],
  'another media type': [{ 'Content-Type': 'text/plain' }, 41501],
};

/** Pipelining and persistent connections. */
export const pipelineCases: readonly HttpCase[] = [
  plantStoreCase(`responds to ${PIPELINED} pipelined requests in order`, async (service) => {
    const connection = await service.connect();
    const names = Array.from({ length: PIPELINED }, (_, index) => `plant ${index}`);
    connection.send(Buffer.concat(names.map((name) => service.post(newPlant({ name })))));
    for (const expected of names) {
      const response = received(await connection.read());
      const name = parseObject(response.body)?.['name'];
      expectThat(response.status === 200 && name === expected, `200 with the name ${expected}`, response);
    }
  }),
  plantStoreCase('responds to pipelined requests in order, including rejections', async (service) => {
    const requests = [
      service.post(),
      service.request('GET /plants'),
      service.post('{'),
      service.post(newPlant(), { Authorization: undefined }),
      service.post(),
      service.post('[]', LAST),
    ];
    await service.expectToEnd(Buffer.concat(requests), [200, 40501, 40001, 40101, 200, 40002]);
  }),
  plantStoreCase('closes the connection for CONNECT', (service) =>
    service.expectToEnd(service.request('CONNECT plants.example:443'), []),
  ),
  plantStoreCase('responds to a valid request before garbage, then closes the connection', (service) =>
    service.expectToEnd(Buffer.concat([service.post(), Buffer.from('garbage\r\n\r\n')]), [200]),
  ),
  ...casesFor(
    REJECTED_BODIES,
    'skips a request inside a body rejected for %s, and processes the next one',
    async (service, [headers, error]) => {
      const id = randomId();
      const hidden = service.post(newPlant({}, id));
      const head = service.post('', { ...headers, 'Content-Length': `${hidden.length}` });
      const next = service.post(newPlant({ name: 'another' }, id), LAST);
      await service.expectToEnd(Buffer.concat([head, hidden, next]), [error, 200]);
    },
  ),
];
