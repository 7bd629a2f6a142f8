import { expect } from 'chai';
import { it } from 'mocha';
import { RawClient, request } from '../../../support/raw-http.js';
import { httpSuite, newPlant, post, readOutcomes } from './support.js';

httpSuite('A connection', {}, ({ start }) => {
  it('carries 300 pipelined requests, a few of which are in progress at a time', async () => {
    let inFlight = 0;
    let maxInFlight = 0;
    const server = await start({
      createPlant: {
        async execute() {
          maxInFlight = Math.max(maxInFlight, ++inFlight);
          await new Promise(setImmediate);
          inFlight--;
          return { kind: 'id-taken' };
        },
      },
    });
    // A body is read in larger steps, which must end with it.
    const requests = Array.from({ length: 300 }, (_, index) =>
      post(newPlant({ name: 'x'.repeat(index ? 1 : 20_000) })),
    );
    const outcomes = await server.sendToEnd(...requests, post('{}', { Connection: 'close' }));
    expect(outcomes).to.deep.equal([...Array(300).fill(40901), 40002]);
    expect(maxInFlight).to.be.within(1, 12);
  });

  const page = request('GET /docs/swagger-ui-bundle.js');
  const last = post('{}', { Connection: 'close' });
  const body = post(newPlant({ name: 'x'.repeat(5000) }));
  const pieces = Array.from({ length: 6 }, (_, index) => body.subarray(index * 1000, (index + 1) * 1000));
  for (const [what, sent, outcomes] of [
    ['requests', Array(12).fill(page), Array(12).fill(200)],
    ['a body in pieces', [page, page, page, ...pieces], [200, 200, 200, 200]],
    ['requests after a slow one', [post(), ...Array(5).fill(page)], Array(6).fill(200)],
  ] as const) {
    it(`carries ${what} of a client that has unread responses`, async () => {
      let authenticate = () => {};
      const authenticated = new Promise<void>((resolve) => {
        authenticate = resolve;
      });
      const verify = () => authenticated.then(() => ({ subject: 'tester' }));
      const server = await start({ docs: true, tokenVerifier: { verify } });
      const client = await RawClient.connect(server.port);
      client.socket.pause();
      for (const bytes of [...sent, last]) {
        client.send(bytes);
        await server.waitUntilRead();
      }
      authenticate();
      client.socket.resume();
      expect(await readOutcomes(client)).to.deep.equal([...outcomes, 40002]);
    });
  }

  const expectation = { Expect: '100-continue' };
  for (const [what, bytes, outcomes, created] of [
    ['an HTTP/1.0 request', () => `${post()}`.replace('HTTP/1.1', 'HTTP/1.0'), [200], 1],
    [
      'a request to upgrade',
      () => request('GET /nothing', { Connection: 'Upgrade', Upgrade: 'websocket' }),
      [40401],
      0,
    ],
    ['a discarded body', () => request('POST /plants', {}, Buffer.alloc(1024 ** 2 + 5000, 'x')), [40101], 0],
    ['an expectation without 100 Continue', () => post(newPlant(), { ...expectation, Authorization: '' }), [40101], 0],
    ['an expectation of another media type', () => post('{}', { ...expectation, 'Content-Type': 'x/y' }), [41501], 0],
  ] as const) {
    it(`processes nothing after ${what}`, async () => {
      const server = await start();
      expect(await server.sendToEnd(bytes(), post(), post())).to.deep.equal(outcomes);
      expect(server.created).to.have.lengthOf(created);
    });
  }

  it('processes nothing of a request that is completed after its 408', async () => {
    const server = await start({ headersTimeoutMs: 200, requestTimeoutMs: 200 });
    const late = post();
    const client = await server.connect(late.subarray(0, 40));
    const response = await client.readResponse();
    client.send(late.subarray(40));
    expect(response).to.include({ outcome: 40801 });
    expect(await client.readAllResponses()).to.deep.equal([]);
    expect(server.created).to.be.empty;
  });

  it('is closed after CONNECT even if the client does not read', async () => {
    const client = await (await start({ keepAliveTimeoutMs: 200 })).connect();
    client.socket.pause();
    const many = Array.from({ length: 80 }, () => request('GET /openapi.json'));
    client.send(Buffer.concat([...many, request('CONNECT a:1')]));
    // A client that does not read notices a closed connection only when it writes.
    const writing = setInterval(() => client.send('x'), 50);
    await new Promise((resolve) => client.socket.once('close', resolve));
    clearInterval(writing);
  });
});
