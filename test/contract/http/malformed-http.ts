import { casesFor, plantStoreCase } from './case.js';
import { expectOutcome, newPlant, randomId, type Service } from './service.js';
import type { HttpCase } from './types.js';

/** Maximum time for headers by default (HEADERS_TIMEOUT), and a margin. */
const HEADERS_TIMEOUT_MS = 20_000;
const LARGE = 1_000_000;

/** Changes to a valid request that make it malformed. */
export const CHANGES: Readonly<Record<string, (request: string) => string>> = {
  'a first line of garbage': () => 'garbage\r\n\r\n',
  'a space in the name of a header': (request) => request.replace('Content-Type:', 'X Y: z\r\nContent-Type:'),
  'a space before the colon of a header': (request) => request.replace('Content-Length:', 'Content-Length :'),
  'a header folded onto the next line': (request) => request.replace('Content-Type:', 'X: a\r\n b\r\nContent-Type:'),
  'a NUL in a header': (request) => request.replace('Content-Type:', 'X: a\0b\r\nContent-Type:'),
  'two Content-Lengths': (request) => request.replace('Content-Length:', 'Content-Length: 5\r\nContent-Length:'),
  'a hexadecimal Content-Length': (request) => request.replace('Content-Length: ', 'Content-Length: 0x'),
  'Content-Length and chunks': (request) =>
    request.replace('Content-Length:', 'Transfer-Encoding: chunked\r\nContent-Length:'),
  'a Transfer-Encoding that does not end in chunked': (request) =>
    request.replace(/Content-Length:.*/, 'Transfer-Encoding: chunked, identity'),
  'an unknown Transfer-Encoding': (request) => request.replace(/Content-Length:.*/, 'Transfer-Encoding: xchunked'),
};

/** Bodies in chunks, one of which is malformed. */
export const BAD_CHUNKS: Readonly<Record<string, string>> = {
  'a size that is not a number': 'x\r\n{}\r\n0\r\n\r\n',
  'a size beyond 64 bits': 'fffffffffffffffff\r\n{}\r\n0\r\n\r\n',
  'more bytes than its size': '1\r\n{}\r\n0\r\n\r\n',
};

/** Creates a request with this number of headers; a create has five. */
const withHeaders = (service: Service, count: number) =>
  service.post(newPlant(), Object.fromEntries(Array.from({ length: count - 4 }, (_, index) => [`X${index}`, 'y'])));

const TOO_LARGE: Readonly<Record<string, (service: Service) => Uint8Array>> = {
  'one long header': (service) => service.post(newPlant(), { X: 'x'.repeat(LARGE) }),
  'many short headers': (service) => withHeaders(service, LARGE / 10),
  'a long query': (service) => service.request(`POST /plants?${'x'.repeat(LARGE)}`),
};

const CHUNKED = { 'Transfer-Encoding': 'chunked' };
const SIZED = { 'Content-Type': 'application/json' };

/** Malformed, late and oversized requests. */
export const malformedHttpCases: readonly HttpCase[] = [
  ...casesFor(CHANGES, 'responds 40000 to %s, and closes the connection', async (service, change) => {
    const id = randomId();
    const bytes = Buffer.from(change(service.post(newPlant({}, id), SIZED).toString('latin1')), 'latin1');
    const next = bytes.includes('\r\n\r\n') ? service.post() : Buffer.alloc(0);
    await service.expectToEnd(Buffer.concat([bytes, next]), [40000]);
    expectOutcome(await service.create(newPlant({ name: 'another' }, id)), 200);
  }),
  ...casesFor(BAD_CHUNKS, 'responds 40000 to a chunk with %s, and closes the connection', async (service, chunk) =>
    service.expectToEnd(Buffer.concat([service.post(chunk, CHUNKED), service.post()]), [40000]),
  ),
  plantStoreCase('stores nothing if the last chunk is malformed', async (service) => {
    const id = randomId();
    const body = newPlant({}, id);
    const chunks = `${body.length.toString(16)}\r\n${body}\r\nx\r\n\r\n`;
    expectOutcome(await service.create(chunks, CHUNKED), 40000);
    expectOutcome(await service.create(newPlant({ name: 'another' }, id)), 200);
  }),
  plantStoreCase('accepts chunks with extensions and trailers (RFC 9112 §7.1)', async (service) => {
    const body = newPlant();
    const size = (body.length - 1).toString(16);
    const chunks = `${size};x=y\r\n${body.slice(0, -1)}\r\n1\r\n}\r\n0\r\nX: y\r\n\r\n`;
    expectOutcome(await service.create(chunks, CHUNKED), 200);
  }),
  plantStoreCase('accepts 100 headers, and responds 43101 to 101', async (service) => {
    expectOutcome(await service.send(withHeaders(service, 100)), 200);
    expectOutcome(await service.send(withHeaders(service, 101)), 43101);
  }),
  ...casesFor(TOO_LARGE, 'responds 43101 to %s, and closes the connection', async (service, toBytes) =>
    service.expectToEnd(toBytes(service), [43101]),
  ),
  plantStoreCase(
    'responds 40801 to headers that do not arrive in time, and closes the connection',
    async (service) => service.expectToEnd('POST /plants HTTP/1.1\r\nHost: pl', [40801]),
    HEADERS_TIMEOUT_MS,
  ),
];
