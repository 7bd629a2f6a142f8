import { EventEmitter, once } from 'node:events';
import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { it } from 'mocha';
import type { NewPlant } from '../../../../core/index.js';
import { RawClient, request } from '../../../support/raw-http.js';
import { chunk, Gate, httpSuite, newPlant, post, readOutcomes } from './support.js';

httpSuite('A connection', {}, ({ start }) => {
  const page = request('GET /docs/swagger-ui-bundle.js');
  const last = post('{}', { Connection: 'close' });

  for (const [creates, bodyBytes, maxInFlight] of [
    [300, 50, 4],
    // Slightly larger than a step, so that most steps end in a body.
    [300, 410, 8],
    // A body is read in larger steps, which must end with it. Each response is larger than Node's buffer.
    [50, 100_000, 8],
  ] as const) {
    it(`carries ${creates} pipelined creates of ${bodyBytes} bytes, a few of which are in progress at a time`, async () => {
      const gate = new Gate();
      let inFlight = 0;
      const execute = (plant: NewPlant) => {
        inFlight++;
        return gate.createPlant.execute(plant);
      };
      const server = await start({ createPlant: { execute } });
      const requests = Array.from({ length: creates }, () => post(newPlant({ name: 'x'.repeat(bodyBytes - 40) })));
      const outcomes = server.sendToEnd(...requests, last);
      await gate.arrived;
      for (let times = 0; times < 10; times++) await server.waitUntilRead();
      expect(inFlight).to.be.within(1, maxInFlight);
      gate.open();
      expect(await outcomes).to.deep.equal([...Array(creates).fill(200), 40002]);
    });
  }

  it('stays open for a response that takes longer than the keep-alive timeout', async () => {
    const gate = new Gate();
    const server = await start({ createPlant: gate.createPlant, keepAliveTimeoutMs: 50 });
    const slow = server.send();
    await gate.arrived;
    const idle = await server.connect(request('GET /nothing'));
    expect(await readOutcomes(idle)).to.deep.equal([40401]);
    gate.open();
    expect(await slow).to.equal(200);
  });

  const body = post(newPlant({ name: 'x'.repeat(5000) }));
  const pieces = Array.from({ length: 6 }, (_, index) => body.subarray(index * 1000, (index + 1) * 1000));
  for (const [what, sent, outcomes] of [
    ['requests', Array(12).fill(page), Array(12).fill(200)],
    ['a body in pieces', [page, page, page, ...pieces], [200, 200, 200, 200]],
    ['requests after a slow one', [post(), ...Array(5).fill(page)], Array(6).fill(200)],
    [
      'bodies after a slow request and a page',
      [Buffer.concat([post(), page, body.subarray(0, -50)]), Buffer.concat([body.subarray(-50), body])],
      [200, 200, 200, 200],
    ],
  ] as const) {
    it(`carries ${what} of a client that has unread responses`, async () => {
      const gate = new Gate();
      const server = await start({ docs: true, createPlant: gate.createPlant });
      const client = await RawClient.connect(server.port);
      client.socket.pause();
      for (const bytes of [...sent, last]) {
        client.send(bytes);
        await server.waitUntilRead();
      }
      gate.open();
      client.socket.resume();
      expect(await readOutcomes(client)).to.deep.equal([...outcomes, 40002]);
    });
  }

  const expectation = { Expect: '100-continue' };
  for (const [what, bytes, outcomes, created] of [
    // It gets no 100 Continue.
    ['an HTTP/1.0 request', () => `${post(newPlant(), expectation)}`.replace('HTTP/1.1', 'HTTP/1.0'), [200], 1],
    [
      'a request to upgrade',
      () => request('GET /nothing', { Connection: 'Upgrade', Upgrade: 'websocket' }),
      [40401],
      0,
    ],
    ['an expectation without 100 Continue', () => post(newPlant(), { ...expectation, Authorization: '' }), [40101], 0],
  ] as const) {
    it(`processes nothing after ${what}`, async () => {
      const server = await start();
      expect(await server.sendToEnd(bytes(), post(), post())).to.deep.equal(outcomes);
      expect(server.created).to.have.lengthOf(created);
    });
  }

  it('can be reset during a response without any output of Koa to the console', async () => {
    const printed: unknown[] = [];
    const { error } = console;
    console.error = (text) => printed.push(text);
    try {
      const server = await start({ docs: true });
      const client = await server.connect();
      expect(server.connections).to.equal(1);
      client.socket.pause();
      client.send(Buffer.concat(Array(7).fill(page)));
      await server.waitUntilRead();
      client.socket.resetAndDestroy();
      while (server.connections !== 0) await new Promise(setImmediate);
    } finally {
      console.error = error;
    }
    expect(printed).to.deep.equal([]);
  });

  it('is not read while chunks of a body are unread, because each takes memory', async () => {
    const body = Buffer.alloc(6 * 1500, chunk(' '));
    const events = new EventEmitter();
    const server = await start({
      async listener(req) {
        do await new Promise(setImmediate);
        while (req.socket.bytesRead < body.length);
        events.emit('sent', req.readableLength);
      },
    });
    await server.connect(request('POST /', { 'Transfer-Encoding': 'chunked' }, body));
    const [unread] = await once(events, 'sent');
    expect(unread).to.be.below(1000);
  });

  it('is read further once the client has read a part of a response that started before the end of the body', async () => {
    const events = new EventEmitter();
    const server = await start({
      listener(req, res) {
        // More than the operating system buffers.
        req.once('data', () => events.emit('wrote', res.write(Buffer.alloc(10_000_000))));
        req.once('end', () => res.end(() => events.emit('sent')));
      },
    });
    const client = await server.connect();
    client.socket.pause();
    client.send(request('POST /', { 'Content-Length': '1000' }, Buffer.alloc(999)));
    await once(events, 'wrote');
    client.send(Buffer.alloc(1)).socket.resume();
    await once(events, 'sent');
  });

  it('lets other work proceed between its requests', async () => {
    let requests = 0;
    const events = new EventEmitter();
    const server = await start({
      listener(_, res) {
        if (requests++ === 0) setImmediate(() => events.emit('turn', requests));
        res.end();
      },
    });
    await server.connect(Buffer.concat(Array(1000).fill(request('GET /'))));
    const [inFirstTurn] = await once(events, 'turn');
    expect(inFirstTurn).to.be.below(50);
  });

  it('is not read after it is destroyed', async () => {
    let requests = 0;
    const server = await start({
      listener(req) {
        requests++;
        req.socket.destroy();
      },
    });
    // More than half of what the server parses at once.
    const large = request('GET /', { 'X-Large': 'x'.repeat(400) });
    await (await server.connect(Buffer.concat(Array(5).fill(large)))).ended();
    expect(requests).to.equal(1);
  });

  it('is closed, and the process goes on, if Node fails an assertion', async () => {
    const fail = () => {
      throw Object.assign(new Error('an assertion failed'), { code: 'ERR_INTERNAL_ASSERTION' });
    };
    const listener: RequestListener = (req, res) => {
      req.socket.on('data', fail);
      res.end();
    };
    // Longer than a test takes, so that no timeout closes the connection.
    const server = await start({ listener, headersTimeoutMs: 600_000, requestTimeoutMs: 600_000 });
    const client = await server.connect(request('GET /'));
    expect(await client.readResponse()).to.include({ status: 200 });
    await client.send('G').ended();
  });

  it('can be reset after CONNECT', async () => {
    // Koa would handle the error of a connection with a request in progress.
    const gate = new Gate();
    const server = await start({ listener: () => gate.pass() });
    const client = await server.connect(Buffer.concat([post(), request('CONNECT a:1')]));
    await gate.arrived;
    client.socket.resetAndDestroy();
    while (server.connections !== 0) await new Promise(setImmediate);
  });

  for (const [what, bytes] of [
    ['pages', Array(12).fill(page)],
    // Few enough for one step, so that CONNECT is processed.
    ['pages and CONNECT', [...Array(7).fill(page), request('CONNECT a:1')]],
  ] as const) {
    it(`is closed if the client does not read: ${what}`, async () => {
      const client = await (await start({ docs: true, keepAliveTimeoutMs: 200 })).connect();
      client.socket.pause();
      client.send(Buffer.concat(bytes));
      // A client that does not read notices a closed connection only when it writes.
      const writing = setInterval(() => client.send('x'), 500);
      await new Promise((resolve) => client.socket.once('close', resolve));
      clearInterval(writing);
    });
  }
});
