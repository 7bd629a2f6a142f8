import { expect } from 'chai';
import { before, it } from 'mocha';
import type { CreatePlantUseCase } from '../../../../core/index.js';
import { request } from '../../../support/raw-http.js';
import { Gate, httpSuite, newPlant, type Options, post, readOutcomes, type TestServer } from './support.js';

/** What a client sends before it stops. */
const LATE: Readonly<Record<string, string | Buffer>> = {
  'that never sends anything': '',
  'that stops in its headers': 'POST /plants HTTP/1.1\r\nHost: te',
  'that stops before its body': post('', { 'Content-Length': '100' }),
  'that stops in a chunk': post('a\r\n{"id":', { 'Transfer-Encoding': 'chunked' }),
  'that stops in a compressed body': post('\x1f', { 'Content-Encoding': 'gzip', 'Content-Length': '100' }),
};

/** What a client sends: a head, then the same few bytes again and again. */
const SLOW: Readonly<Record<string, readonly [head: string | Buffer, repeated: string]>> = {
  'that sends a header byte by byte': ['POST /plants HTTP/1.1\r\nX: ', 'x'],
  'that sends a body byte by byte': [post('', { 'Content-Length': '100000' }), ' '],
};

/** Short, because Node checks for timeouts only every 500 ms. */
const TIMEOUTS = { headersTimeoutMs: 150, requestTimeoutMs: 300, keepAliveTimeoutMs: 500 };

httpSuite('Timeouts', TIMEOUTS, ({ server, start: startWith }) => {
  const start = (options: Options) => startWith({ ...TIMEOUTS, requestTimeoutMs: 150, ...options });
  /** Resolves when Node has checked for requests that timed out. */
  const waitForTimeoutCheck = async (own: TestServer) => {
    expect(await (await own.connect()).readResponse()).to.include({ outcome: 40801 });
  };

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

  for (const [what, [head, repeated]] of Object.entries(SLOW)) {
    test(`rejects with 40801 a client ${what}`, async () => {
      const client = await server().connect(head);
      const timer = setInterval(() => client.send(repeated), 20);
      const response = await client.readResponse();
      clearInterval(timer);
      client.close();
      expect(response).to.include({ outcome: 40801 });
    });
  }

  test('does not time out pipelined requests while the storage is slow', async () => {
    const gate = new Gate();
    let times = 0;
    const createPlant: CreatePlantUseCase = {
      async execute() {
        if (++times === 2) await gate.pass();
        return { kind: 'id-taken' };
      },
    };
    const own = await start({ createPlant });
    // More than the server reads while two are in progress.
    const outcomes = own.sendToEnd(...Array(9).fill(post()), post(newPlant(), { Connection: 'close' }));
    await gate.arrived;
    await waitForTimeoutCheck(own);
    gate.open();
    expect(await outcomes).to.deep.equal(Array(10).fill(40901));
  });

  test('sends 40801 for a late pipelined request, even if it arrives, after the response to the previous request', async () => {
    const gate = new Gate();
    const own = await start({ createPlant: gate.createPlant });
    const late = post();
    const client = await own.connect(Buffer.concat([post(), late.subarray(0, 40)]));
    await gate.arrived;
    await waitForTimeoutCheck(own);
    client.send(late.subarray(40));
    await own.waitUntilRead();
    gate.open();
    expect(await readOutcomes(client)).to.deep.equal([200, 40801]);
  });

  test('disconnects a client whose body was late while the server did not read it, and does not arrive', async () => {
    const own = await start({ docs: true, keepAliveTimeoutMs: 2000 });
    const client = await own.connect();
    client.socket.pause();
    const pages = Array(5).fill(request('GET /docs/swagger-ui-bundle.js'));
    client.send(Buffer.concat([...pages, post('', { 'Content-Length': '1000' })]));
    await own.exchange(request('GET /nothing'));
    client.send('x'.repeat(500));
    await waitForTimeoutCheck(own);
    client.socket.resume();
    expect(await readOutcomes(client)).to.deep.equal(Array(5).fill(200));
  });

  test('sends no 40801 after the response to a request whose body is late, which ends the connection', async () => {
    const client = await server().connect(request('GET /openapi.json', { 'Content-Length': '9' }));
    const responses = await client.readAllResponses();
    expect(responses.map(({ outcome, headers }) => [outcome, headers['connection']])).to.deep.equal([[200, 'close']]);
  });

  for (const [part, bytes] of Object.entries({ headers: 'POST', body: post('', { 'Content-Length': '9' }) })) {
    test(`waits for the ${part} of the first request longer than the keep-alive timeout`, async () => {
      const own = await start({ keepAliveTimeoutMs: 20 });
      expect(await (await own.connect(bytes)).readResponse()).to.include({ outcome: 40801 });
    });
  }

  test('closes an idle connection after the keep-alive timeout without a response', async () => {
    const client = await (await start({ keepAliveTimeoutMs: 1000 })).connect();
    for (let times = 0; times < 2; times++)
      expect(await client.send(post()).readResponse()).to.nested.include({
        outcome: 200,
        'headers.keep-alive': 'timeout=1',
      });
    expect(await client.readAllResponses()).to.deep.equal([]);
  });
});
