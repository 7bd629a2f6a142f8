import { casesFor, plantStoreCase } from './case.js';
import {
  expectOutcome,
  expectThat,
  expectToEnd,
  type Headers,
  newPlant,
  parseObject,
  randomId,
  received,
} from './service.js';
import type { HttpCase } from './types.js';

const LAST = { Connection: 'close' };
const PIPELINED = 20;
const MANY = 1000;

/** Headers that cause a rejection before the body, which contains another request. */
const REJECTED_BODIES: Readonly<Record<string, readonly [headers: Headers, error: number]>> = {
  'no credential': [{ Authorization: undefined }, 40101],
  'a wrong token': [{ Authorization: 'Bearer wrong' }, 40102],
  'another media type': [{ 'Content-Type': 'text/plain' }, 41501],
  'two Hosts': [{ host: 'plants.example' }, 40000],
};

const GARBAGE: Readonly<Record<string, string>> = {
  'a line of garbage': 'garbage\r\n\r\n',
  'a request without Host': 'POST /plants HTTP/1.1\r\nConnection: close\r\n\r\n',
};

/** Pipelining and persistent connections. */
export const pipelineCases: readonly HttpCase[] = [
  plantStoreCase('serves many requests on one connection', async (service) => {
    const connection = await service.connect();
    for (let times = 0; times < PIPELINED; times++) {
      expectOutcome(await connection.send(service.post()).read(), 200);
      expectOutcome(await connection.send(service.post('{')).read(), 40001);
    }
  }),
  plantStoreCase('responds to pipelined requests in order', async (service) => {
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
  plantStoreCase(`responds to each of ${MANY} pipelined requests`, async (service) => {
    const bytes = Buffer.concat([...Array(MANY).fill(service.request('GET /plants')), service.post('{', LAST)]);
    await service.expectToEnd(bytes, [...Array(MANY).fill(40501), 40001]);
  }),
  plantStoreCase('processes nothing after a request with Connection: close', async (service) => {
    const id = randomId();
    const bytes = Buffer.concat([service.post(newPlant(), LAST), service.post(newPlant({}, id))]);
    await service.expectToEnd(bytes, [200]);
    expectOutcome(await service.create(newPlant({ name: 'another' }, id)), 200);
  }),
  plantStoreCase('closes the connection for CONNECT, and processes only the requests before it', async (service) => {
    const id = randomId();
    const [before, connect] = [service.request('GET /plants'), service.request('CONNECT plants.example:443')];
    await service.expectToEnd(Buffer.concat([before, connect, service.post(newPlant({}, id))]), [40501]);
    expectOutcome(await service.create(newPlant({ name: 'another' }, id)), 200);
    await service.expectToEnd(connect, []);
  }),
  ...casesFor(
    GARBAGE,
    'responds to a valid request before %s in the same packet, then closes the connection',
    async (service, garbage) =>
      service.expectToEnd(Buffer.concat([service.post(), Buffer.from(garbage)]), [200, 40000]),
  ),
  ...casesFor(
    REJECTED_BODIES,
    'never processes a request inside the rejected body of a request with %s',
    async (service, [headers, error]) => {
      const id = randomId();
      const hidden = service.post(newPlant({}, id), LAST);
      const head = service.post('', { ...headers, 'Content-Length': `${hidden.length}` });
      const connection = (await service.connect()).send(head);
      expectOutcome(await connection.read(), error);
      await expectToEnd(connection.send(hidden), []);
      expectOutcome(await service.create(newPlant({ name: 'another' }, id)), 200);
    },
  ),
  plantStoreCase('responds 40000 to a body that a half-closed connection cuts short', async (service) => {
    const id = randomId();
    const connection = (await service.connect()).send(service.post(newPlant({}, id), { 'Content-Length': '1000' }));
    connection.socket.end();
    expectOutcome(await connection.read(), 40000);
    expectOutcome(await service.create(newPlant({ name: 'another' }, id)), 200);
  }),
];
