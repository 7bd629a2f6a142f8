import { expect } from 'chai';
import { it } from 'mocha';
import { request } from '../../../support/raw-http.js';
import { waitUntil } from '../../../support/wait-until.js';
import { Gate, httpSuite, newPlant, post, readOutcomes } from './support.js';

httpSuite('A connection', {}, ({ start }) => {
  const page = request('GET /docs/swagger-ui-bundle.js');
  const last = post('{}', { Connection: 'close' });

  for (const [requests, outcomes] of [
    [16, [...Array(15).fill(200), 40002]],
    [17, []],
  ] as const) {
    it(`with ${requests} requests without a response gets ${outcomes.length} responses`, async () => {
      const gate = new Gate();
      const server = await start({ createPlant: gate.createPlant });
      const client = await server.connect(Buffer.concat([...Array(requests - 1).fill(post()), last]));
      await gate.arrived;
      await server.waitUntilRead();
      gate.open();
      expect(await readOutcomes(client)).to.deep.equal(outcomes);
    });
  }

  it('of HTTP/1.0 gets no 100 Continue', async () => {
    const server = await start();
    const create = post(undefined, { Expect: '100-continue' }).toString();
    expect(await server.send(create.replace('HTTP/1.1', 'HTTP/1.0'))).to.equal(200);
  });

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

  it('is closed if the client does not read a response', async () => {
    const server = await start({ docs: true, keepAliveTimeoutMs: 200 });
    const client = await server.connect();
    client.socket.pause();
    client.send(Buffer.concat(Array(10).fill(page)));
    await server.waitUntilRead();
    await waitUntil('the connection is closed', async () => server.connections === 0);
    client.close();
  });

  it('ends after the outstanding responses because of a malformed body, without a response to it', async () => {
    const gate = new Gate();
    const server = await start({ createPlant: gate.createPlant });
    const malformed = post('x\r\n', { 'Transfer-Encoding': 'chunked' });
    const client = await server.connect(Buffer.concat([post(), malformed, post()]));
    await gate.arrived;
    await server.waitUntilRead();
    gate.open();
    expect(await readOutcomes(client)).to.deep.equal([200]);
  });

  it('ends after a request with Upgrade, and what follows is not handled, even if it looks like a request', async () => {
    const gate = new Gate();
    const names: string[] = [];
    const execute: typeof gate.createPlant.execute = (plant) => {
      names.push(plant.name);
      return gate.createPlant.execute(plant);
    };
    const server = await start({ createPlant: { execute } });
    const upgrade = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c' };
    const first = post(newPlant({ name: 'first' }), upgrade);
    const client = await server.connect(Buffer.concat([first, post(), post().subarray(0, 40)]));
    await gate.arrived;
    client.send(post());
    await server.waitUntilRead();
    gate.open();
    const [response, ...others] = await client.readAllResponses();
    expect(response).to.include({ outcome: 200 }).and.nested.include({ 'headers.connection': 'close' });
    expect(others).to.deep.equal([]);
    expect(names).to.deep.equal(['first']);
    const late = { ...upgrade, 'Content-Length': '100' };
    const timed = await start({ requestTimeoutMs: 50, headersTimeoutMs: 50 });
    expect(await readOutcomes(await timed.connect(post('', late)))).to.deep.equal([40801]);
  });

  it('may carry a request without Host', async () => {
    const server = await start();
    expect(await server.send(`${post()}`.replace('Host: test\r\n', ''))).to.equal(200);
  });

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
      await waitUntil('the connection is closed', async () => server.connections === 0);
    } finally {
      console.error = error;
    }
    expect(printed).to.deep.equal([]);
  });
});
