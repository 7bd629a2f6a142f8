import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { exchange, RawClient, request } from '../../support/raw-http.js';
import { startService, type TestService } from '../../support/service.js';
import { Gate, HEADERS, newPlant, post, startInTest } from './support.js';

/** Statuses of all answers up to the end of a connection, and how many plants are stored then. */
async function outcome(service: TestService, client: RawClient): Promise<{ statuses: number[]; stored: number }> {
  const statuses = (await client.answersToEnd()).map(({ status }) => status);
  let stored = 0;
  for await (const page of service.plants.readAll()) stored += page.length;
  return { statuses, stored };
}

describe('After an answer that closes the connection', () => {
  const start = startInTest(startService);

  it('a request behind an Upgrade is not executed, in the same packet or later', async () => {
    const service = await start();
    const client = await RawClient.connect(service.port);
    const upgrade = request('GET /nothing', { Connection: 'Upgrade', Upgrade: 'websocket' });
    const inner = post();
    const outerHead = request('POST /plants', { ...HEADERS, 'Content-Length': `${inner.length}` });
    client.send(Buffer.concat([upgrade, outerHead]));
    await nextTurn();
    client.send(inner);
    expect(await outcome(service, client)).to.deep.equal({ statuses: [404], stored: 0 });
  });

  for (const [what, headers] of Object.entries({
    'an unknown coding and an expectation': { Expect: '100-continue', 'Content-Encoding': 'x' },
    'no credential and an expectation': { Expect: '100-continue', Authorization: '' },
    'another media type and an expectation': { Expect: '100-continue', 'Content-Type': 'text/plain' },
  })) {
    it(`a request behind one with ${what} is not executed`, async () => {
      const service = await start();
      const client = await RawClient.connect(service.port);
      client.send(Buffer.concat([post(newPlant(), headers), post(), post()]));
      const { statuses, stored } = await outcome(service, client);
      expect({ statuses: statuses.length, stored }).to.deep.equal({ statuses: 1, stored: 0 });
    });
  }

  it('requests behind one whose expectation is met are executed, and answered in their order', async () => {
    const service = await start();
    const client = await RawClient.connect(service.port);
    const expecting = () => post(newPlant(), { Expect: '100-continue' });
    const last = post('{', { Connection: 'close' });
    client.send(Buffer.concat([expecting(), post(), expecting(), expecting(), post(), last]));
    const { statuses, stored } = await outcome(service, client);
    const answers = statuses.filter((status) => status !== 100);
    expect({ answers, stored }).to.deep.equal({ answers: [200, 200, 200, 200, 200, 400], stored: 5 });
  });

  it('a request behind a doubtful one is not executed, where both wait for the answer to an expectation', async () => {
    const service = await start();
    const client = await RawClient.connect(service.port);
    const twoHosts = post(newPlant(), { host: 'other' });
    const behind = Array.from({ length: 50 }, () => post());
    client.send(Buffer.concat([post(newPlant(), { Expect: 'x' }), twoHosts, ...behind]));
    const { statuses, stored } = await outcome(service, client);
    expect({ statuses, stored }).to.deep.equal({ statuses: [417, 400], stored: 0 });
  });

  it('garbage behind one whose expectation is met, and another one, is answered last', async () => {
    const service = await start();
    const client = await RawClient.connect(service.port);
    const expecting = post(newPlant(), { Expect: '100-continue' });
    client.send(Buffer.concat([expecting, post(), Buffer.from('garbage\r\n\r\n')]));
    const { statuses, stored } = await outcome(service, client);
    const answers = statuses.filter((status) => status !== 100);
    expect({ answers, stored }).to.deep.equal({ answers: [200, 200, 400], stored: 2 });
  });

  it('a tunnel is not asked for behind requests that are not executed, and the service goes on', async () => {
    const service = await start();
    const client = await RawClient.connect(service.port);
    const last = post('{', { Upgrade: 'h2c' });
    const ignored = request('POST /plants', {}, '{}');
    client.send(Buffer.concat([last, ignored, ignored, request('CONNECT test:443')]));
    expect(await outcome(service, client)).to.deep.equal({ statuses: [400], stored: 0 });
    expect((await exchange(service.port, post()))?.status).to.equal(200);
  });

  it('a request behind a refused body that is dropped is not executed', async () => {
    const service = await start();
    for (const extraBytes of [1, 5000, 130_000]) {
      const client = await RawClient.connect(service.port);
      const body = Buffer.alloc(1024 * 1024 + extraBytes, 'x');
      client.send(Buffer.concat([request('POST /plants', {}, body), post()]));
      expect(await outcome(service, client)).to.deep.equal({ statuses: [401], stored: 0 });
    }
  });

  it('a request whose end comes after its 408 is not executed', async () => {
    const service = await start({ HEADERS_TIMEOUT: '200ms', REQUEST_TIMEOUT: '200ms' });
    const client = await RawClient.connect(service.port);
    const late = post();
    client.send(late.subarray(0, 40));
    const answer = await client.answer();
    client.send(late.subarray(40));
    expect(answer?.status).to.equal(408);
    expect(await outcome(service, client)).to.deep.equal({ statuses: [], stored: 0 });
  });

  it('of more than a hundred requests that wait for their answers a hundred are answered, and no more executed', async () => {
    const gate = new Gate();
    const service = await start({}, gate.beforeAdd());
    const client = await RawClient.connect(service.port);
    client.send(Buffer.concat(Array.from({ length: 150 }, () => post(newPlant()))));
    await gate.arrived;
    for (let turns = 0; turns < 20; turns++) await nextTurn();
    gate.open();
    const { statuses, stored } = await outcome(service, client);
    expect({ answers: statuses.length, stored }).to.deep.equal({ answers: 100, stored: 100 });
  });
});

describe('A connection that asks for a tunnel', () => {
  const start = startInTest(startService);

  it('and never reads is let go', async () => {
    const service = await start({ KEEP_ALIVE_TIMEOUT: '200ms' });
    const client = await RawClient.connect(service.port);
    client.socket.pause();
    const many = Array.from({ length: 80 }, () => request('GET /openapi.json'));
    client.send(Buffer.concat([...many, request('CONNECT a:1')]));
    // Only a write tells a client that does not read that the connection has gone.
    const knocking = setInterval(() => client.send('x'), 50);
    await new Promise((resolve) => client.socket.once('close', resolve));
    clearInterval(knocking);
  });
});
