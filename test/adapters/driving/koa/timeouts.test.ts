import { expect } from 'chai';
import { before, it } from 'mocha';
import { request } from '../../../support/raw-http.js';
import { Gate, httpSuite, type Options, post, readOutcomes } from './support.js';

/** What a client sends before it stops. */
const LATE: Readonly<Record<string, string | Buffer>> = {
  'that never sends anything': '',
  'that stops in its headers': 'POST /plants HTTP/1.1\r\nHost: te',
  'that stops before its body': post('', { 'Content-Length': '100' }),
  'that stops in a chunk': post('a\r\n{"id":', { 'Transfer-Encoding': 'chunked' }),
  'that stops in a compressed body': post('\x1f', { 'Content-Encoding': 'gzip', 'Content-Length': '100' }),
};

/** Short, because Node checks for timeouts only every 500 ms. */
const TIMEOUTS = { headersTimeoutMs: 150, requestTimeoutMs: 300, keepAliveTimeoutMs: 500 };

httpSuite('Timeouts', TIMEOUTS, ({ server, start: startWith }) => {
  const start = (options: Options) => startWith({ ...TIMEOUTS, requestTimeoutMs: 150, ...options });

  const started = new Map<string, () => Promise<void>>();
  /** Defines a test that runs concurrently with the others, because each waits for a timeout. */
  const test = (title: string, run: () => Promise<void>) => {
    let result: Promise<void> | undefined;
    started.set(title, () => {
      result = run();
      return result;
    });
    it(title, () => result);
  };
  before(() => {
    for (const run of started.values()) run().catch(() => {});
  });

  for (const [what, bytes] of Object.entries(LATE)) {
    test(`rejects with 40801 and disconnects a client ${what}`, async () => {
      const responses = await (await server().connect(bytes)).readAllResponses();
      expect(responses.map(({ outcome, headers }) => [outcome, headers['connection']])).to.deep.equal([
        [40801, 'close'],
      ]);
    });
  }

  test('ends a connection with a late request after the response to the previous request', async () => {
    const gate = new Gate();
    const own = await start({ createPlant: gate.createPlant });
    const client = await own.connect(Buffer.concat([post(), post().subarray(0, 40)]));
    await gate.arrived;
    // Node has checked for requests that timed out.
    expect(await (await own.connect()).readResponse()).to.include({ outcome: 40801 });
    gate.open();
    expect(await readOutcomes(client)).to.deep.equal([200]);
  });

  test('sends no 40801 after the response to a request whose body is late, which ends the connection', async () => {
    const client = await server().connect(request('GET /openapi.json', { 'Content-Length': '9' }));
    expect(await readOutcomes(client)).to.deep.equal([200]);
  });

  for (const [part, bytes] of Object.entries({ headers: 'POST', body: post('', { 'Content-Length': '9' }) })) {
    test(`waits for the ${part} of the first request longer than the keep-alive timeout`, async () => {
      const own = await start({ keepAliveTimeoutMs: 20 });
      expect(await (await own.connect(bytes)).readResponse()).to.include({ outcome: 40801 });
    });
  }

  test('closes an idle connection after the keep-alive timeout without a response', async () => {
    const client = await (await start({ keepAliveTimeoutMs: 1000 })).connect(post());
    expect(await readOutcomes(client)).to.deep.equal([200]);
  });
});
