import { once } from 'node:events';
import { expect } from 'chai';
import { after, before, it } from 'mocha';
import type { CreatePlantUseCase } from '../../../../core/index.js';
import { RawClient, request } from '../../../support/raw-http.js';
import { Gate, httpSuite, newPlant, outcome, post, postHead, send, sharedServer, startInTest } from './support.js';

/** What a client sends before it stops. */
const LATE: Record<string, Buffer> = {
  'that never sends anything': Buffer.alloc(0),
  'that stops in the first line': Buffer.from('POST /pla'),
  'that stops in its headers': Buffer.from('POST /plants HTTP/1.1\r\nHost: te'),
  'that stops before its body': postHead({ 'Content-Length': '100' }),
  'that stops in its body': post('{"id":', { 'Content-Length': '100' }),
  'that stops in a chunk': post('a\r\n{"id":', { 'Transfer-Encoding': 'chunked' }),
  'that stops in a compressed body': post('\x1f', { 'Content-Encoding': 'gzip', 'Content-Length': '100' }),
};

/** What a client sends: a head, then the same few bytes again and again. */
const SLOW: Record<string, [head: string | Buffer, repeated: string]> = {
  'that keeps sending empty lines': ['', '\r\n'],
  'that sends a header byte by byte': ['POST /plants HTTP/1.1\r\nX: ', 'x'],
  'that keeps sending headers': ['POST /plants HTTP/1.1\r\n', 'X: y\r\n'],
  'that sends a body byte by byte': [postHead({ 'Content-Length': '100000' }), ' '],
  'that keeps sending chunks': [postHead({ 'Transfer-Encoding': 'chunked' }), '1\r\n \r\n'],
};

/** Runs tests concurrently, because each waits for a timeout. */
function runConcurrently(tests: Record<string, () => Promise<void>>): void {
  const started = new Map<string, Promise<void>>();
  before(() => {
    for (const [title, test] of Object.entries(tests)) {
      const result = test();
      result.catch(() => {});
      started.set(title, result);
    }
  });
  for (const title of Object.keys(tests)) it(title, () => started.get(title));
}

/** Timeouts for clients. The settings are short, because Node checks for timeouts only every 500 ms. */
httpSuite('Timeouts', () => {
  const server = sharedServer({ headersTimeoutMs: 150, requestTimeoutMs: 300, keepAliveTimeoutMs: 500 });
  const start = startInTest(after);
  const shortTimeouts = { headersTimeoutMs: 150, requestTimeoutMs: 150, keepAliveTimeoutMs: 150 };
  /** Resolves when Node has checked for requests that timed out. */
  const waitForTimeoutCheck = async ({ port }: { readonly port: number }) => {
    const silent = await RawClient.connect(port);
    expect(outcome(await silent.readResponse())).to.equal(40801);
  };

  const late = Object.entries(LATE).map(([what, bytes]) => [
    `rejects with 40801 and disconnects a client ${what}`,
    async () => {
      const client = await RawClient.connect(server().port);
      const responses = await client.send(bytes).readAllResponses();
      expect(responses.map(outcome)).to.deep.equal([40801]);
      expect(responses[0]?.headers).to.include({ connection: 'close' });
    },
  ]);
  const slow = Object.entries(SLOW).map(([what, [head, repeated]]) => [
    `rejects with 40801 a client ${what}`,
    async () => {
      const client = await RawClient.connect(server().port);
      const timer = setInterval(() => client.send(repeated), 20);
      const response = await client.send(head).readResponse();
      clearInterval(timer);
      client.close();
      expect(outcome(response)).to.equal(40801);
    },
  ]);

  /** Sends a request and half of a second one; the rest follows after the second has timed out. */
  const completeAfterTimeout = async () => {
    const gate = new Gate();
    const own = await start({ ...shortTimeouts, createPlant: gate.createPlant });
    const client = await RawClient.connect(own.port);
    const half = post('{"id":', { 'Content-Length': '22' });
    client.send(post(newPlant())).send(half);
    await gate.arrived;
    await waitForTimeoutCheck(own);
    await waitForTimeoutCheck(own);
    client.send('1,"name":"Late"}').send(post(newPlant()));
    gate.open();
    expect((await client.readAllResponses()).map(outcome)).to.deep.equal([200, 40801]);
  };

  runConcurrently({
    'sends one 40801 for a request that is completed after its timeout, and disconnects': completeAfterTimeout,
    ...Object.fromEntries(late),
    ...Object.fromEntries(slow),

    'does not time out a request while the storage is slow': async () => {
      const gate = new Gate();
      const own = await start({ ...shortTimeouts, createPlant: gate.createPlant });
      const response = send(own);
      await gate.arrived;
      await waitForTimeoutCheck(own);
      gate.open();
      expect(await response).to.equal(200);
    },

    'does not time out a pipelined request while the storage is slow': async () => {
      const gate = new Gate();
      let times = 0;
      const createPlant: CreatePlantUseCase = {
        async execute() {
          if (++times === 2) await gate.pass();
          return { kind: 'id-taken' };
        },
      };
      const own = await start({ ...shortTimeouts, createPlant });
      const client = await RawClient.connect(own.port);
      client.send(Buffer.concat([post(), post(newPlant(), { Connection: 'close' })]));
      await gate.arrived;
      await waitForTimeoutCheck(own);
      gate.open();
      expect((await client.readAllResponses()).map(outcome)).to.deep.equal([40901, 40901]);
    },

    'sends 40801 for a late pipelined request after the response to the previous request': async () => {
      const gate = new Gate();
      const own = await start({ ...shortTimeouts, createPlant: gate.createPlant });
      const client = await RawClient.connect(own.port);
      const responses = client.send(`${post()}POST /plants HTTP/1.1\r\n`).readAllResponses();
      await gate.arrived;
      await waitForTimeoutCheck(own);
      gate.open();
      expect((await responses).map(outcome)).to.deep.equal([200, 40801]);
    },

    'sends no 40801 after the response to a request whose body is late': async () => {
      const client = await RawClient.connect(server().port);
      const responses = await client.send(request('GET /openapi.json', { 'Content-Length': '9' })).readAllResponses();
      expect(responses.map(({ status }) => status)).to.deep.equal([200]);
    },

    'closes an idle connection after the keep-alive timeout without a response': async () => {
      const client = await RawClient.connect((await start({ keepAliveTimeoutMs: 1000 })).port);
      for (let times = 0; times < 2; times++) expect(outcome(await client.send(post()).readResponse())).to.equal(200);
      expect(await client.readAllResponses()).to.deep.equal([]);
    },

    'disconnects a client that never reads its responses': async () => {
      const client = await RawClient.connect(server().port);
      client.socket.pause();
      let open = true;
      const closed = once(client.socket, 'close')
        .catch(() => {})
        .finally(() => {
          open = false;
        });
      const requests = Buffer.concat(Array.from({ length: 100 }, () => request('GET /openapi.json')));
      while (open) {
        client.send(requests);
        if (client.socket.writableNeedDrain) {
          await Promise.race([once(client.socket, 'drain').catch(() => {}), closed]);
        }
      }
    },
  });
});
