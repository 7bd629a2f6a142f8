import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { exchange, RawClient, request } from '../../support/raw-http.js';
import { startService, type TestService } from '../../support/service.js';
import { Gate, HEADERS, newPlant, post, startInTest } from './support.js';

/** Returns the statuses of all responses until the connection closes, and the number of stored plants. */
async function readOutcome(service: TestService, client: RawClient): Promise<{ statuses: number[]; stored: number }> {
  const statuses = (await client.readAllResponses()).map(({ status }) => status);
  let stored = 0;
  for await (const page of service.repository.readAll()) stored += page.length;
  return { statuses, stored };
}

describe('The HTTP server', () => {
  const start = startInTest(startService);

  it('does not process a request after an Upgrade, in the same packet or later', async () => {
    const service = await start();
    const client = await RawClient.connect(service.port);
    const upgrade = request('GET /nothing', { Connection: 'Upgrade', Upgrade: 'websocket' });
    const inner = post();
    const outerHead = request('POST /plants', { ...HEADERS, 'Content-Length': `${inner.length}` });
    client.send(Buffer.concat([upgrade, outerHead]));
    await nextTurn();
    client.send(inner);
    expect(await readOutcome(service, client)).to.deep.equal({ statuses: [404], stored: 0 });
  });

  for (const [what, headers] of Object.entries({
    'an unknown coding and an expectation': { Expect: '100-continue', 'Content-Encoding': 'x' },
    'no credential and an expectation': { Expect: '100-continue', Authorization: '' },
    'another media type and an expectation': { Expect: '100-continue', 'Content-Type': 'text/plain' },
  })) {
    it(`does not process a request after one with ${what}`, async () => {
      const service = await start();
      const client = await RawClient.connect(service.port);
      client.send(Buffer.concat([post(newPlant(), headers), post(), post()]));
      const { statuses, stored } = await readOutcome(service, client);
      expect({ statuses: statuses.length, stored }).to.deep.equal({ statuses: 1, stored: 0 });
    });
  }

  it('processes requests after an expectation that is met, in order', async () => {
    const service = await start();
    const client = await RawClient.connect(service.port);
    const expecting = () => post(newPlant(), { Expect: '100-continue' });
    const last = post('{', { Connection: 'close' });
    client.send(Buffer.concat([expecting(), post(), expecting(), expecting(), post(), last]));
    const { statuses, stored } = await readOutcome(service, client);
    const final = statuses.filter((status) => status !== 100);
    expect({ final, stored }).to.deep.equal({ final: [200, 200, 200, 200, 200, 400], stored: 5 });
  });

  it('does not process requests after a malformed one that follows an unmet expectation', async () => {
    const service = await start();
    const client = await RawClient.connect(service.port);
    const twoHosts = post(newPlant(), { host: 'other' });
    const later = Array.from({ length: 50 }, () => post());
    client.send(Buffer.concat([post(newPlant(), { Expect: 'x' }), twoHosts, ...later]));
    const { statuses, stored } = await readOutcome(service, client);
    expect({ statuses, stored }).to.deep.equal({ statuses: [417, 400], stored: 0 });
  });

  it('rejects garbage after it has responded to the requests before, even if one has a met expectation', async () => {
    const service = await start();
    const client = await RawClient.connect(service.port);
    const expecting = post(newPlant(), { Expect: '100-continue' });
    client.send(Buffer.concat([expecting, post(), Buffer.from('garbage\r\n\r\n')]));
    const { statuses, stored } = await readOutcome(service, client);
    const final = statuses.filter((status) => status !== 100);
    expect({ final, stored }).to.deep.equal({ final: [200, 200, 400], stored: 2 });
  });

  it('ignores CONNECT after a request to upgrade', async () => {
    const service = await start();
    const client = await RawClient.connect(service.port);
    const last = post('{', { Upgrade: 'h2c' });
    const ignored = request('POST /plants', {}, '{}');
    client.send(Buffer.concat([last, ignored, ignored, request('CONNECT test:443')]));
    expect(await readOutcome(service, client)).to.deep.equal({ statuses: [400], stored: 0 });
    expect((await exchange(service.port, post()))?.status).to.equal(200);
  });

  it('does not process a request after a discarded body', async () => {
    const service = await start();
    for (const extraBytes of [1, 5000, 130_000]) {
      const client = await RawClient.connect(service.port);
      const body = Buffer.alloc(1024 * 1024 + extraBytes, 'x');
      client.send(Buffer.concat([request('POST /plants', {}, body), post()]));
      expect(await readOutcome(service, client)).to.deep.equal({ statuses: [401], stored: 0 });
    }
  });

  it('does not process a request that is completed after its 408', async () => {
    const service = await start({ HEADERS_TIMEOUT: '200ms', REQUEST_TIMEOUT: '200ms' });
    const client = await RawClient.connect(service.port);
    const late = post();
    client.send(late.subarray(0, 40));
    const response = await client.readResponse();
    client.send(late.subarray(40));
    expect(response?.status).to.equal(408);
    expect(await readOutcome(service, client)).to.deep.equal({ statuses: [], stored: 0 });
  });

  it('processes exactly 100 requests if more are pipelined', async () => {
    const gate = new Gate();
    const service = await start({}, gate.beforeAdd());
    const client = await RawClient.connect(service.port);
    client.send(Buffer.concat(Array.from({ length: 150 }, () => post(newPlant()))));
    await gate.arrived;
    for (let turns = 0; turns < 20; turns++) await nextTurn();
    gate.open();
    const { statuses, stored } = await readOutcome(service, client);
    expect({ responses: statuses.length, stored }).to.deep.equal({ responses: 100, stored: 100 });
  });
});

describe('CONNECT after pending responses', () => {
  const start = startInTest(startService);

  it('closes the connection even if the client does not read', async () => {
    const service = await start({ KEEP_ALIVE_TIMEOUT: '200ms' });
    const client = await RawClient.connect(service.port);
    client.socket.pause();
    const many = Array.from({ length: 80 }, () => request('GET /openapi.json'));
    client.send(Buffer.concat([...many, request('CONNECT a:1')]));
    // A client that does not read notices a closed connection only when it writes.
    const writing = setInterval(() => client.send('x'), 50);
    await new Promise((resolve) => client.socket.once('close', resolve));
    clearInterval(writing);
  });
});
