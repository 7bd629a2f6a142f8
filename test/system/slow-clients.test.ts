import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { createRequest, serve, TOKEN, toOutcome } from '../support/client.js';
import { type Executable, endProgramsAfterEach } from '../support/executable.js';
import { memoryMib, openSockets, peakMemoryMib } from '../support/process-resources.js';
import { RawClient, request } from '../support/raw-http.js';
import { skipUnless } from '../support/skip-unless.js';
import { testOrSoak } from '../support/soak.js';
import { quantile } from '../support/statistics.js';
import { temporaryFolder } from '../support/temporary.js';

const SLOW_CLIENTS = testOrSoak(200, 1000);
const NON_READING_CLIENTS = testOrSoak(20, 200);
const BYTE_EVERY_MS = testOrSoak(200, 1000);
const HEADERS_TIMEOUT_MS = testOrSoak(1500, 10_000);
const REQUEST_TIMEOUT_MS = testOrSoak(2500, 30_000);
const KEEP_ALIVE_TIMEOUT_MS = testOrSoak(1500, 10_000);
/** Tolerance for a busy machine, but less than Node's default interval of 30 s between checks. */
const GRACE_MS = 20_000;
/** Maximum p99 latency of creates while clients are slow, on a busy machine. */
const MAX_P99_MS = testOrSoak(10_000, 20);
/** How long slowhttptest waits for a response before it reports that the service is not available. */
const PROBE_TIMEOUT_S = testOrSoak(30, 3);
/** Number of creates that are timed. */
const TIMED_CREATES = testOrSoak(200, 2000);

const LIMITS = {
  HEADERS_TIMEOUT: `${HEADERS_TIMEOUT_MS}ms`,
  REQUEST_TIMEOUT: `${REQUEST_TIMEOUT_MS}ms`,
  KEEP_ALIVE_TIMEOUT: `${KEEP_ALIVE_TIMEOUT_MS}ms`,
};

const authorized = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };

/** Clients that send `head`, then one byte at a time, and the timeout that applies to them. */
const DRIPPING: Record<string, readonly [head: string | Uint8Array, limitMs: number]> = {
  'sending headers byte by byte': ['POST /plants HTTP/1.1\r\nX: ', HEADERS_TIMEOUT_MS],
  'sending a body byte by byte': [
    request('POST /plants', { ...authorized, 'Content-Length': '4096' }),
    REQUEST_TIMEOUT_MS,
  ],
};

/** Returns pipelined requests for a large response. */
function pipelinedRequests(requests: number): string {
  return 'GET /openapi.json HTTP/1.1\r\nHost: test\r\n\r\n'.repeat(requests);
}

describe('Slow clients', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();
  before(function () {
    skipUnless(this, process.platform === 'linux', 'a /proc file system');
  });

  /** Sends creates one after another and returns their durations in milliseconds. */
  async function timeCreates(port: number, firstId: bigint): Promise<number[]> {
    const client = await RawClient.connect(port, { isRecorded: false });
    const times: number[] = [];
    for (let id = firstId; times.length < TIMED_CREATES; id++) {
      const sentAt = performance.now();
      expect(toOutcome(await client.send(createRequest({ id, name: 'quick' })).readResponse())).to.equal(200);
      times.push(performance.now() - sentAt);
    }
    client.close();
    return times;
  }

  function serveQuietly(environment: Readonly<Record<string, string>> = LIMITS): Executable {
    return serve(folder, { DATABASE_URL: 'memory:', LOG_LEVEL: 'error', ...environment });
  }

  for (const [what, [head, limitMs]] of Object.entries({
    ...DRIPPING,
    'sending nothing': ['', HEADERS_TIMEOUT_MS] as const,
  })) {
    it(`${what} get 40801 after the timeout without slowing others down (${SLOW_CLIENTS} clients)`, async () => {
      const service = serveQuietly();
      const port = await service.port();
      await timeCreates(port, 1n);
      const baseline = await timeCreates(port, 10_000n);

      const startedAt = performance.now();
      const slow = Array.from({ length: SLOW_CLIENTS }, async () => {
        const client = await RawClient.connect(port, { isRecorded: false });
        client.send(head);
        const dripping = head === '' ? undefined : setInterval(() => client.send('x'), BYTE_EVERY_MS);
        const response = await client.readResponse();
        clearInterval(dripping);
        const responseAfterMs = performance.now() - startedAt;
        client.socket.end();
        await client.ended();
        return { outcome: toOutcome(response), connection: response?.headers['connection'], responseAfterMs };
      });
      const meanwhile = await timeCreates(port, 20_000n);
      const ended = await Promise.all(slow);

      expect(new Set(ended.map(({ outcome, connection }) => `${outcome} ${connection}`))).to.deep.equal(
        new Set(['40801 close']),
      );
      for (const { responseAfterMs } of ended) expect(responseAfterMs).to.be.within(limitMs - 100, limitMs + GRACE_MS);
      // Bounds the latency of other creates.
      expect(quantile(meanwhile, 0.99)).to.be.below(Math.max(testOrSoak(10, 2) * quantile(baseline, 0.99), MAX_P99_MS));
    });
  }

  it('that never read responses are disconnected and use little memory', async () => {
    const service = serveQuietly();
    const port = await service.port();
    await timeCreates(port, 1n);
    const [socketsBefore, memoryBefore] = [openSockets(service), memoryMib(service)];
    const clients = await sendWithoutReading(port, NON_READING_CLIENTS, 50);
    // Keep sending until the service stops reading.
    const senders = clients.map((socket) =>
      setInterval(() => socket.writableNeedDrain || socket.write(pipelinedRequests(50)), 20),
    );
    await waitForOpenSockets(service, port, socketsBefore);
    for (const timer of senders) clearInterval(timer);
    for (const socket of clients) socket.destroy();
    expect(peakMemoryMib(service) - memoryBefore, 'MiB').to.be.below(100 + 5 * NON_READING_CLIENTS);
    expect(await service.kill('SIGTERM').exited()).to.equal(0);
  });

  it('that flood the service with requests without reading are disconnected before they fill the memory', async () => {
    const service = serveQuietly({ KEEP_ALIVE_TIMEOUT: '60s' });
    const port = await service.port();
    await timeCreates(port, 1n);
    const [socketsBefore, memoryBefore] = [openSockets(service), memoryMib(service)];
    const clients = await sendWithoutReading(port, 40, 20_000);
    await waitForOpenSockets(service, port, socketsBefore);
    for (const socket of clients) socket.destroy();
    expect(peakMemoryMib(service) - memoryBefore, 'MiB').to.be.below(190);
  });

  async function sendWithoutReading(port: number, clients: number, requests: number): Promise<Socket[]> {
    const connected = Array.from({ length: clients }, () => RawClient.connect(port, { isRecorded: false }));
    return (await Promise.all(connected)).map(({ socket }) => {
      socket.pause();
      socket.write(pipelinedRequests(requests));
      return socket;
    });
  }

  /** Waits until the service has closed all other connections; creates succeed meanwhile. */
  async function waitForOpenSockets(service: Executable, port: number, count: number): Promise<void> {
    // The service may not have closed the connection of the last create yet.
    do await createOnce(port);
    while (openSockets(service) > count + 1);
  }

  let lastId = 1_000_000n;
  async function createOnce(port: number): Promise<void> {
    const client = await RawClient.connect(port, { isRecorded: false });
    expect(toOutcome(await client.send(createRequest({ id: ++lastId, name: 'quick' })).readResponse())).to.equal(200);
    client.close();
    await client.ended();
  }

  describe('of slowhttptest', () => {
    before(function () {
      // slowhttptest has no option that only prints its version.
      const isInstalled = spawnSync('sh', ['-c', 'command -v slowhttptest']).status === 0;
      skipUnless(this, isInstalled, 'slowhttptest: apt-get install slowhttptest');
    });

    const MODES = {
      'slow headers': ['-H'],
      'slow bodies': ['-B'],
      'slow reading': ['-X', '-k', '5', '-w', '10', '-y', '20', '-n', '1', '-z', '8'],
    };
    for (const [mode, options] of Object.entries(MODES)) {
      it(`leave the service available (${mode})`, async () => {
        const service = serveQuietly();
        const url = `http://127.0.0.1:${await service.port()}/openapi.json`;
        const seconds = testOrSoak(4, 60);
        const load = [
          '-c',
          `${SLOW_CLIENTS}`,
          '-r',
          `${SLOW_CLIENTS}`,
          '-i',
          '1',
          '-l',
          `${seconds}`,
          '-p',
          `${PROBE_TIMEOUT_S}`,
          '-u',
          url,
        ];
        const attack = spawn('slowhttptest', [...options, ...load], { stdio: ['ignore', 'pipe', 'inherit'] });
        let output = '';
        attack.stdout.on('data', (chunk) => {
          output += chunk;
        });
        await once(attack, 'close');
        // biome-ignore lint/suspicious/noControlCharactersInRegex: slowhttptest prints colour codes
        const plain = output.replaceAll(/\x1b\[[\d;]*[A-Za-z]/g, '');
        const available = [...plain.matchAll(/service available:\s*(\w+)/g)].map(([, is]) => is);
        expect(available).to.include('YES').and.not.include('NO');
        expect(await service.kill('SIGTERM').exited()).to.equal(0);
      });
    }
  });
});
