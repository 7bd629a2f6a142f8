import { once } from 'node:events';
import { connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../../../support/catch-error.js';
import { RawClient, request } from '../../../support/client.js';
import { waitUntil } from '../../../support/wait-until.js';
import { ALL_BUT_FIVE_BYTES, FIVE_BYTES, HELD, holdingServers, NEXT } from '../test-server.js';

/** More than the buffers of the operating system hold. */
const LARGE = Buffer.alloc(12_000_000, 'x');
/** Longer than a test takes, so that a shutdown that waits for it fails the test. */
const PATIENT = { shutdownTimeoutMs: 600_000 };

describe('A connection', () => {
  const start = holdingServers();

  it('hands over one request at a time, and is not read while others wait', async () => {
    const { server, held } = await start();
    const client = await server.connect(Buffer.concat([HELD, HELD]));
    client.send(NEXT.replace('next', 'x'.repeat(10_000)).repeat(40));
    for (let round = 0; round < 10; round++) await server.waitUntilRead();
    expect(held[0]?.req.socket.bytesRead).to.be.below(100_000);
    expect(held).to.have.lengthOf(1);
    held[0]?.end();
    await client.readResponse();
    held[1]?.end();
    for (let number = 0; number < 41; number++) expect(await client.readResponse()).to.include({ status: 200 });
    client.close();
  });

  it('is closed if more than 512 requests wait for a response', async () => {
    const { server } = await start();
    const client = await server.connect(`${HELD}${NEXT.repeat(512)}`);
    expect(await client.readOutcomes()).to.deep.equal([]);
  });

  it('beyond the maximum number is closed at once', async () => {
    const { server } = await start({ maxConnections: 1 });
    const client = await RawClient.connect(server.port);
    expect(await client.send(NEXT).readResponse()).to.include({ outcome: 200 });
    expect(await server.exchange(NEXT)).to.equal(undefined);
    client.close();
    await waitUntil('another is accepted', async () => (await server.send(NEXT)) === 200);
  });

  it('is closed when it is idle for longer than the keep-alive timeout, but not before a late response', async () => {
    const { server, held } = await start({ keepAliveTimeoutMs: 50 });
    const slow = await server.connect(`${NEXT}${HELD}`);
    expect(await (await server.connect(NEXT)).readOutcomes()).to.deep.equal([200]);
    held[0]?.end();
    expect(await slow.readOutcomes()).to.deep.equal([200, 200]);
  });

  it('is closed if the client does not read a response', async () => {
    const { server, held } = await start({ keepAliveTimeoutMs: 200 });
    const client = await server.connect(HELD);
    client.socket.pause();
    held[0]?.end(LARGE);
    await new Promise((resolve) => held[0]?.on('close', resolve));
  });

  it('ends after a request with Upgrade, and handles nothing that follows', async () => {
    const { server, held } = await start();
    const upgrade = request('POST /held', { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c' }, 'body');
    const client = await server.connect(Buffer.concat([upgrade, HELD, ALL_BUT_FIVE_BYTES]));
    client.send(HELD);
    await server.waitUntilRead();
    held[0]?.end();
    expect(await client.readOutcomes()).to.deep.equal([200]);
    expect(held).to.have.lengthOf(1);
  });

  it('gets an early response with Connection: close although the client goes on sending', async () => {
    const { server } = await start();
    const client = await server.connect();
    client.socket.pause();
    client.send(request('POST /next', { Connection: 'close', 'Content-Length': '3000000' }));
    await server.waitUntilRead();
    // Without a reader, a reset would take the response away.
    await new Promise<void>((resolve) => client.socket.write(Buffer.alloc(1_000_000), () => resolve()));
    await server.waitUntilRead();
    client.socket.resume();
    expect(await client.readResponse()).to.include({ outcome: 200 });
  });
});

describe('A shutdown', () => {
  const start = holdingServers();

  it('closes connections without a request in progress at once, also one that its client does not close', async () => {
    const { server } = await start(PATIENT);
    const [unused, idle, early] = [await server.connect(), await server.connect(NEXT), await server.connect('POST')];
    const halfOpen = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true }).resume();
    halfOpen.write(NEXT);
    await once(halfOpen, 'data');
    const stopped = server.stop();
    expect(server.isStopping).to.equal(true);
    const outcomes = await Promise.all([unused, idle, early].map((client) => client.readOutcomes()));
    expect(outcomes).to.deep.equal([[], [200], []]);
    await stopped;
    halfOpen.destroy();
  });

  it('finishes requests in flight, also pipelined ones and one whose body arrives late, and no others', async () => {
    const { server, held } = await start(PATIENT);
    const client = await server.connect(`${HELD}${NEXT}${NEXT}`);
    const late = await server.connect(ALL_BUT_FIVE_BYTES);
    const stopped = server.stop();
    expect(await catchError(server.connect())).to.include({ code: 'ECONNREFUSED' });
    client.send(HELD);
    late.send(FIVE_BYTES);
    for (const response of held) response.end(await text(response.req));
    for (const [connection, bodies] of [
      [client, ['some bytes', '', '']],
      [late, ['some bytes']],
    ] as const) {
      const responses = await connection.readAllResponses();
      expect(responses.map(({ body }) => body)).to.deep.equal(bodies);
      expect(responses.at(-1)?.headers).to.include({ connection: 'close' });
    }
    await stopped;
    expect(held).to.have.lengthOf(2);
  });

  it('sends a whole response that has begun, also if its client is slow', async () => {
    const { server, held } = await start(PATIENT);
    const socket = connect(server.port, '127.0.0.1');
    socket.write(HELD);
    await server.waitUntilRead();
    held[0]?.write(LARGE);
    const stopped = server.stop();
    held[0]?.end('end');
    const received = await buffer(socket);
    expect(received.length).to.be.above(LARGE.length);
    expect(received.subarray(-10).toString()).to.equal('end\r\n0\r\n\r\n');
    await stopped;
  });

  it('sends late requests their 408, and disconnects at its timeout clients that do not send their body', async () => {
    for (const [options, outcomes, minimumMs] of [
      [{ headersTimeoutMs: 150, requestTimeoutMs: 150, ...PATIENT }, [40801], 0],
      [{ shutdownTimeoutMs: 200 }, [], 190],
    ] as const) {
      const { server } = await start(options);
      const client = await server.connect(ALL_BUT_FIVE_BYTES);
      const startedAt = performance.now();
      await server.stop();
      expect(performance.now() - startedAt).to.be.within(minimumMs, 10_000);
      expect(await client.readOutcomes()).to.deep.equal(outcomes);
    }
  });
});
