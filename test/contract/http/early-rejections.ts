import { once } from 'node:events';
import { ContractViolation } from '../contract.js';
import { casesFor, headerCases, outcomeCase, plantStoreCase } from './case.js';
import type { Connection } from './connection.js';
import { expectOutcome, expectThat, type Headers, newPlant, received } from './service.js';
import type { HttpCase } from './types.js';

const LARGE_BYTES = 64 * 1024 ** 2;
const SENT = Buffer.alloc(0x10000, ' ');
const SENT_CHUNK = Buffer.from(`10000\r\n${SENT}\r\n`);
const LENGTH = { 'Content-Length': `${LARGE_BYTES}` };

/** Requests that are rejected because of their heads. */
const BY_HEAD: Readonly<Record<string, readonly [headers: Headers, error: number, startLine?: string]>> = {
  'an unknown path': [{}, 40401, 'POST /plant'],
  'another method': [{}, 40501, 'PUT /plants'],
  'no Host': [{ Host: undefined }, 40000],
  'no credential': [{ Authorization: undefined }, 40101],
  'a wrong token': [{ Authorization: 'Bearer wrong' }, 40102],
  'an unknown Expect': [{ Expect: 'x' }, 41701],
  'another media type': [{ 'Content-Type': 'text/plain' }, 41501],
  'an unknown Content-Encoding': [{ 'Content-Encoding': 'zstd' }, 41501],
};

/** Some of them, without a body, and one that is rejected because of its length. */
const NOT_CONTINUED: Readonly<Record<string, readonly [headers: Headers, error: number, startLine?: string]>> = {
  ...Object.fromEntries(Object.entries(BY_HEAD).filter(([, [, error]]) => [40101, 40102, 41501].includes(error))),
  'a body that is too large': [{ 'Content-Length': '1048577' }, 41301],
};

const EXPECT = { Expect: '100-continue' };

/** Sends bytes again and again until the connection closes or has accepted {@link LARGE_BYTES}. */
async function keepSending(connection: Connection, bytes: Uint8Array): Promise<void> {
  const { socket } = connection;
  const ended = new Promise<void>((resolve) => socket.once('end', resolve).once('close', () => resolve()));
  let isOpen = true;
  ended.then(() => {
    isOpen = false;
  });
  while (isOpen && socket.writable && socket.bytesWritten < LARGE_BYTES) {
    connection.send(bytes);
    if (socket.writableNeedDrain) await Promise.race([once(socket, 'drain').catch(() => {}), ended]);
    else await new Promise(setImmediate);
  }
}

/** Responses sent before the body has arrived, and `Expect: 100-continue` (RFC 9110 §10.1.1). */
export const earlyRejectionCases: readonly HttpCase[] = [
  ...casesFor(
    BY_HEAD,
    'rejects a request with %s without waiting for a body',
    async (service, [headers, error, startLine = 'POST /plants']) => {
      expectOutcome(await service.send(service.authorized(startLine, { ...headers, ...LENGTH })), error);
    },
  ),
  plantStoreCase('rejects a request with no credential without waiting for chunks', async (service) => {
    const headers = { Authorization: undefined, 'Transfer-Encoding': 'chunked' };
    expectOutcome(await service.create('', headers), 40101);
  }),
  plantStoreCase(
    'closes the connection of a rejected client that sends no more',
    async (service) => await service.expectToEnd(service.post('', { Authorization: undefined, ...LENGTH }), [40101]),
  ),
  plantStoreCase('disconnects a rejected client that keeps sending', async (service) => {
    for (const [headers, bytes, error] of [
      [{ Authorization: undefined, ...LENGTH }, SENT, 40101],
      [{ 'Transfer-Encoding': 'chunked' }, SENT_CHUNK, 41301],
    ] as const) {
      const connection = (await service.connect()).send(service.post('', headers));
      const response = connection.read();
      await keepSending(connection, bytes);
      expectOutcome(await response, error);
      if (connection.socket.bytesWritten >= LARGE_BYTES)
        throw new ContractViolation(`expected a closed connection; it accepted ${LARGE_BYTES} bytes`);
    }
  }),
  plantStoreCase('reads the rest of a small rejected body before it closes the connection', async (service) => {
    const connection = await service.connect();
    const failed = new Promise<Error | undefined>((resolve) => {
      connection.socket.once('error', resolve).once('close', () => resolve(undefined));
    });
    connection.send(service.post('', { Authorization: undefined, 'Content-Length': '500000' }));
    expectOutcome(await connection.read(), 40101);
    for (let part = 0; part < 2; part++) {
      // Long enough to notice that the connection is closed.
      expectOutcome(await service.create(), 200);
      if (!connection.socket.writable)
        throw new ContractViolation('expected a connection that is open until its body ends');
      connection.send(Buffer.alloc(250_000));
    }
    const error = await failed;
    if (error) throw new ContractViolation(`expected a closed connection; received ${error.message}`);
  }),

  ...['100-continue', '100-Continue'].map((expectation) =>
    plantStoreCase(`sends 100 Continue for Expect: ${expectation}, then creates the plant`, async (service) => {
      const body = newPlant();
      const connection = await service.connect();
      connection.send(service.post('', { Expect: expectation, 'Content-Length': `${body.length}` }));
      const response = received(await connection.read());
      expectThat(response.status === 100, '100', response);
      expectOutcome(await connection.send(body).read(), 200);
    }),
  ),
  outcomeCase('accepts a body that is sent without waiting for 100 Continue', 200, (service) =>
    service.create(newPlant(), EXPECT),
  ),
  ...casesFor(NOT_CONTINUED, 'does not send 100 Continue for a request with %s', async (service, [headers, error]) => {
    const bytes = service.post('', { 'Content-Length': '30', ...EXPECT, ...headers });
    expectOutcome(await (await service.connect()).send(bytes).read(), error);
  }),
  ...headerCases('Expect', ['x', '100-continue, x', '200-ok'], 41701),
];
