import { finished } from 'node:stream/promises';
import { CREATE_HEADERS, RawClient, request } from '../support/client.js';
import { Comparison } from './compare.js';
import { type Contender, startServer, TOKEN } from './programs.js';

/** Bytes of a hostile path or header: with the rest of the head, just below Node's limit of 16 KiB. */
const SIZE = 15_500;
/** Requests per connection, as many as the server accepts at once. */
const PIPELINED = 16;
const ROUNDS = 15;

const repeat = (unit: string, prefix = '') => `${prefix}${unit.repeat(SIZE / unit.length)}x`;

/** Headers on which a parser takes, or took, long. */
const HEADERS = [
  ['Accept', repeat(',', '"')],
  ['Host', repeat('o', '@xn--')],
  ['If-None-Match', repeat('",')],
  ['Cache-Control', repeat(' ', ',')],
  ['Content-Type', repeat(';', 'application/json')],
  ['Content-Encoding', repeat(', ')],
  ['Authorization', repeat(' ', 'Bearer')],
  ['X-Request-Id', repeat('a')],
] as const;

/** The first is a 404 of the same size. A linear cost takes up to 6 times as long, a quadratic one 30 times and more. */
const requests = [
  { name: 'GET /nowhere', bytes: request('GET /nowhere', { X: repeat('x') }) },
  { name: 'a long path', bytes: request(`GET /${repeat('%2e/')}`) },
];
for (const line of ['GET /', 'POST /plants'])
  for (const [name, value] of HEADERS) {
    const headers = { ...CREATE_HEADERS, Authorization: `Bearer ${TOKEN}`, [name]: value };
    requests.push({ name: `${line}, ${name}: ${value.slice(0, 20)}…`, bytes: request(line, headers) });
  }

/** Compares the processor time that each of the requests takes a program. */
export async function compareHostileRequests(program: Contender): Promise<Comparison> {
  const { port, cpuMs, kill } = await startServer(program);
  const comparison = new Comparison(requests);
  await comparison.add(requests, ROUNDS, async ({ bytes }) => {
    const before = cpuMs();
    const { socket } = (await RawClient.connect(port)).send(Buffer.concat(Array(PIPELINED).fill(bytes)));
    await finished(socket.end().resume());
    return { 'processor time, µs': ((cpuMs() - before) * 1000) / PIPELINED };
  });
  await kill();
  return comparison;
}
