import type { Cases } from '../contract.js';
import { newPlant, randomId, type Service } from './service.js';

const LARGE = 1_000_000;
const CHUNKED = { 'Transfer-Encoding': 'chunked' };

const addHeader = (line: string) => (request: string) => request.replace('Content-Type:', `${line}\r\nContent-Type:`);
const replaceFraming = (line: string) => (request: string) => request.replace(/Content-Length:.*/, line);
const sendChunks = (chunks: string) => (request: string) =>
  request.replace(/Content-Length:.*/s, `Transfer-Encoding: chunked\r\n\r\n${chunks}`);

/** Changes to a valid request that make it malformed. */
export const MALFORMED: Readonly<Record<string, (request: string) => string>> = {
  'responds 40000 to a first line of garbage, and closes the connection': () => 'garbage\r\n\r\n',
  'responds 40000 to a space in the name of a header, and closes the connection': addHeader('X Y: z'),
  'responds 40000 to a space before the colon of a header, and closes the connection': addHeader('X : y'),
  'responds 40000 to a header folded onto the next line, and closes the connection': addHeader('X: a\r\n b'),
  'responds 40000 to a NUL in a header, and closes the connection': addHeader('X: a\0b'),
  'responds 40000 to two Content-Lengths, and closes the connection': addHeader('Content-Length: 5'),
  'responds 40000 to a hexadecimal Content-Length, and closes the connection': replaceFraming('Content-Length: 0x1'),
  'responds 40000 to Content-Length and chunks, and closes the connection': addHeader('Transfer-Encoding: chunked'),
  'responds 40000 to a Transfer-Encoding that does not end in chunked, and closes the connection': replaceFraming(
    'Transfer-Encoding: chunked, identity',
  ),
  'responds 40000 to an unknown Transfer-Encoding, and closes the connection':
    replaceFraming('Transfer-Encoding: xchunked'),
  'responds 40000 to a chunk whose size is not a number, and closes the connection': sendChunks('x\r\n{}\r\n0\r\n\r\n'),
  'responds 40000 to a chunk with a size beyond 64 bits, and closes the connection': sendChunks(
    'fffffffffffffffff\r\n{}\r\n0\r\n\r\n',
  ),
  'responds 40000 to a chunk with more bytes than its size, and closes the connection':
    sendChunks('1\r\n{}\r\n0\r\n\r\n'),
};

/** Expects a change to make a create malformed: neither its plant nor what follows on the connection is processed. */
const isMalformed = (change: (request: string) => string) => async (service: Service) => {
  const id = randomId();
  const create = service.post(newPlant({}, id)).toString('latin1');
  const bytes = Buffer.from(change(create), 'latin1');
  await service.expectToEnd([40000], Buffer.concat([bytes, service.post()]));
  await service.expectCreate(200, newPlant({ name: 'another' }, id));
};

/** Creates a request with this number of headers; a create has five. */
const withHeaders = (service: Service, count: number) =>
  service.post(newPlant(), Object.fromEntries(Array.from({ length: count - 4 }, (_, index) => [`X${index}`, 'y'])));

/** Malformed and oversized requests. */
export const malformedHttpCases: Cases<Service> = {
  ...Object.fromEntries(Object.entries(MALFORMED).map(([name, change]) => [name, isMalformed(change)])),
  'stores nothing if the last chunk is malformed': async (service) => {
    const id = randomId();
    const body = newPlant({}, id);
    await service.expectCreate(40000, `${body.length.toString(16)}\r\n${body}\r\nx\r\n\r\n`, CHUNKED);
    await service.expectCreate(200, newPlant({ name: 'another' }, id));
  },
  'accepts chunks with extensions and trailers (RFC 9112 §7.1)': async (service) => {
    const body = newPlant();
    const size = (body.length - 1).toString(16);
    const chunks = `${size};x=y\r\n${body.slice(0, -1)}\r\n1\r\n}\r\n0\r\nX: y\r\n\r\n`;
    await service.expectCreate(200, chunks, CHUNKED);
  },
  'accepts 100 headers, and responds 43101 to 101': async (service) => {
    await service.expect(200, withHeaders(service, 100));
    await service.expect(43101, withHeaders(service, 101));
  },
  'responds 43101 to one long header, and closes the connection': (service) =>
    service.expectToEnd([43101], service.post(newPlant(), { X: 'x'.repeat(LARGE) })),
  'responds 43101 to many short headers, and closes the connection': (service) =>
    service.expectToEnd([43101], withHeaders(service, LARGE / 10)),
  'responds 43101 to a long query, and closes the connection': (service) =>
    service.expectToEnd([43101], service.request(`POST /plants?${'x'.repeat(LARGE)}`)),
};

/** Late requests. */
export const timeoutCases: Cases<Service> = {
  'responds 40801 to headers that do not arrive in time, and closes the connection': (service) =>
    service.expectToEnd([40801], 'POST /plants HTTP/1.1\r\nHost: pl'),
};
