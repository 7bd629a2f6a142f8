import type { Cases } from '../contract.js';
import { expectThat, type Headers, newPlant, parseObject, randomId, received, type Service } from './service.js';

const LAST = { Connection: 'close' };

/** Expects that headers lead to a rejection, and that the body, which is another request, is not executed. */
const isSkipped = (error: number, headers: Headers) => async (service: Service) => {
  const id = randomId();
  const hidden = service.post(newPlant({}, id));
  const head = service.post('', { ...headers, 'Content-Length': `${hidden.length}` });
  const next = service.post(newPlant({ name: 'another' }, id), LAST);
  await service.expectToEnd([error, 200], Buffer.concat([head, hidden, next]));
};

/** Pipelining and persistent connections. */
export const pipelineCases: Cases<Service> = {
  'responds to 16 pipelined requests in order': async (service) => {
    const connection = await service.connect();
    const names = Array.from({ length: 16 }, (_, index) => `plant ${index}`);
    connection.send(Buffer.concat(names.map((name) => service.post(newPlant({ name })))));
    for (const expected of names) {
      const response = received(await connection.read());
      const name = parseObject(response.body)?.['name'];
      expectThat(response.status === 200 && name === expected, `200 with the name ${expected}`, response);
    }
  },
  'responds to pipelined requests in order, including rejections': async (service) => {
    const requests = [
      service.post(),
      service.request('GET /plants'),
      service.post('{'),
      service.post(newPlant(), { Authorization: undefined }),
      service.post(),
      service.post('[]', LAST),
    ];
    await service.expectToEnd([200, 40501, 40001, 40101, 200, 40002], Buffer.concat(requests));
  },
  'responds 405 to CONNECT after the requests before it, and closes the connection': (service) =>
    service.expectToEnd([200, 40501], Buffer.concat([service.post(), service.request('CONNECT plants.example:443')])),
  'responds to a valid request before garbage, then closes the connection': (service) =>
    service.expectToEnd([200], Buffer.concat([service.post(), Buffer.from('garbage\r\n\r\n')])),
  'skips a request in a body without a credential, and processes the next': isSkipped(40101, {
    Authorization: undefined,
  }),
  'skips a request in a body with a wrong token, and processes the next': isSkipped(40102, {
    Authorization: 'Bearer wrong',
  }),
  'skips a request in a body of another media type, and processes the next': isSkipped(41501, {
    'Content-Type': 'text/plain',
  }),
};
