import { expect } from 'chai';
import { it } from 'mocha';
import { request } from '../../../support/raw-http.js';
import { Gate, httpSuite, post, readOutcomes } from './support.js';

/** What a client sends before it stops. The HTTP contract has a client that stops in its headers. */
const LATE: Readonly<Record<string, string | Buffer>> = {
  'that never sends anything': '',
  'that stops before its body': post('', { 'Content-Length': '100' }),
  'that stops in a chunk': post('a\r\n{"id":', { 'Transfer-Encoding': 'chunked' }),
  'that stops in a compressed body': post('\x1f', { 'Content-Encoding': 'gzip', 'Content-Length': '100' }),
};

/** Short, because Node checks for timeouts only every 500 ms. */
const TIMEOUTS = { headersTimeoutMs: 150, requestTimeoutMs: 150, keepAliveTimeoutMs: 500 };

httpSuite('Timeouts', TIMEOUTS, ({ server, start }) => {
  for (const [what, bytes] of Object.entries(LATE)) {
    it(`rejects with 40801 and disconnects a client ${what}`, async () => {
      const [response, ...others] = await (await server().connect(bytes)).readAllResponses();
      expect(response).to.include({ outcome: 40801 }).and.nested.include({ 'headers.connection': 'close' });
      expect(others).to.deep.equal([]);
    });
  }

  it('ends a connection with a late request after the response to the previous request', async () => {
    const gate = new Gate();
    const own = await start({ ...TIMEOUTS, createPlant: gate.createPlant });
    const client = await own.connect(Buffer.concat([post(), post().subarray(0, 40)]));
    await gate.arrived;
    // Node has checked for requests that timed out.
    expect(await (await own.connect()).readResponse()).to.include({ outcome: 40801 });
    gate.open();
    expect(await readOutcomes(client)).to.deep.equal([200]);
  });

  it('creates no plant if the rest of a request arrives after 40801', async () => {
    let calls = 0;
    const execute = async () => {
      calls++;
      return { kind: 'id-conflict' } as const;
    };
    const own = await start({ ...TIMEOUTS, createPlant: { execute } });
    const bytes = post();
    const client = await own.connect(bytes.subarray(0, 40));
    expect(await client.readResponse()).to.include({ outcome: 40801 });
    client.send(bytes.subarray(40));
    await own.waitUntilRead();
    expect(calls).to.equal(0);
  });

  it('sends no 40801 after the response to a request whose body is late, which ends the connection', async () => {
    const client = await server().connect(request('GET /openapi.json', { 'Content-Length': '9' }));
    expect(await readOutcomes(client)).to.deep.equal([200]);
  });

  for (const [part, bytes] of Object.entries({ headers: 'POST', body: post('', { 'Content-Length': '9' }) })) {
    it(`waits for the ${part} of the first request longer than the keep-alive timeout`, async () => {
      const own = await start({ ...TIMEOUTS, keepAliveTimeoutMs: 20 });
      expect(await (await own.connect(bytes)).readResponse()).to.include({ outcome: 40801 });
    });
  }

  it('closes an idle connection after the keep-alive timeout without a response', async () => {
    const client = await server().connect(post());
    expect(await readOutcomes(client)).to.deep.equal([200]);
  });
});
