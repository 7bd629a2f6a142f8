import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { type Executable, endProgramsAfterEach } from '../support/executable.js';
import { needs } from '../support/needs.js';
import { RawClient, request } from '../support/raw-http.js';
import { sized } from '../support/size.js';
import { temporaryFolder } from '../support/temporary.js';
import { creating, outcomeOf, serve, TOKEN } from './client.js';
import { memoryMib, openSockets, peakMemoryMib, quantile } from './resources.js';

const SLOW_CLIENTS = sized(200, 1000);
const NEVER_READING = sized(20, 200);
const BYTE_EVERY_MS = sized(200, 1000);
const HEADERS_TIMEOUT_MS = sized(1500, 10_000);
const REQUEST_TIMEOUT_MS = sized(2500, 30_000);
const KEEP_ALIVE_TIMEOUT_MS = sized(1500, 10_000);
/** Node looks for late clients every half a second; a busy machine may take its time. */
const GRACE_MS = 3000;
/** How many creates are timed. */
const TIMED = sized(200, 2000);

const LIMITS = {
  HEADERS_TIMEOUT: `${HEADERS_TIMEOUT_MS}ms`,
  REQUEST_TIMEOUT: `${REQUEST_TIMEOUT_MS}ms`,
  KEEP_ALIVE_TIMEOUT: `${KEEP_ALIVE_TIMEOUT_MS}ms`,
};

const authorized = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };

/** Clients that are told so when they are late: what they send at once, what they then drip, and their limit. */
const DRIPPING: Record<string, readonly [head: string | Uint8Array, limitMs: number]> = {
  'that send their headers byte by byte': ['POST /plants HTTP/1.1\r\nX: ', HEADERS_TIMEOUT_MS],
  'that send a body byte by byte': [
    request('POST /plants', { ...authorized, 'Content-Length': '4096' }),
    REQUEST_TIMEOUT_MS,
  ],
};

/** So many requests for the longest answer there is. */
function ask(requests: number): string {
  return 'GET /openapi.json HTTP/1.1\r\nHost: test\r\n\r\n'.repeat(requests);
}

describe('Slow clients', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();
  before(function () {
    this.timeout(60_000);
    needs(this, process.platform === 'linux', 'a /proc file system');
  });

  /** Milliseconds that each of many creates takes, one after the other. */
  async function timeCreates(port: number, firstId: bigint): Promise<number[]> {
    const client = await RawClient.connect(port, { isRecorded: false });
    const times: number[] = [];
    for (let id = firstId; times.length < TIMED; id++) {
      const sentAt = performance.now();
      expect(outcomeOf(await client.send(creating({ id, name: 'quick' })).answer())).to.equal(200);
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
    'that never speak': ['', HEADERS_TIMEOUT_MS] as const,
  })) {
    it(`${what} are closed with 40801 within their limit, ${SLOW_CLIENTS} of them, and others are served as before`, async function () {
      this.timeout(limitMs + 60_000);
      const service = serveQuietly();
      const port = await service.port();
      await timeCreates(port, 1n);
      const quiet = await timeCreates(port, 10_000n);

      const begun = performance.now();
      const slow = Array.from({ length: SLOW_CLIENTS }, async () => {
        const client = await RawClient.connect(port, { isRecorded: false });
        client.send(head);
        const dripping = head === '' ? undefined : setInterval(() => client.send('x'), BYTE_EVERY_MS);
        const answer = await client.answer();
        clearInterval(dripping);
        const answeredAfterMs = performance.now() - begun;
        client.socket.end();
        await client.ended();
        return { outcome: outcomeOf(answer), connection: answer?.headers['connection'], answeredAfterMs };
      });
      const meanwhile = await timeCreates(port, 20_000n);
      const ended = await Promise.all(slow);

      expect(new Set(ended.map(({ outcome, connection }) => `${outcome} ${connection}`))).to.deep.equal(
        new Set(['40801 close']),
      );
      for (const { answeredAfterMs } of ended) expect(answeredAfterMs).to.be.within(limitMs - 100, limitMs + GRACE_MS);
      // Beside them a create takes about as long as without them.
      expect(quantile(meanwhile, 0.99)).to.be.below(Math.max(sized(10, 2) * quantile(quiet, 0.99), sized(2000, 20)));
    });
  }

  it('that never read their answers are let go, and cost little memory', async function () {
    this.timeout(KEEP_ALIVE_TIMEOUT_MS + 60_000);
    const service = serveQuietly();
    const port = await service.port();
    await timeCreates(port, 1n);
    const [socketsBefore, memoryBefore] = [openSockets(service), memoryMib(service)];
    const clients = await askWithoutReading(port, NEVER_READING, 50);
    // It asks for more until the service takes no more.
    const asking = clients.map((socket) => setInterval(() => socket.writableNeedDrain || socket.write(ask(50)), 20));
    await untilOpenSockets(service, port, socketsBefore);
    for (const timer of asking) clearInterval(timer);
    for (const socket of clients) socket.destroy();
    expect(peakMemoryMib(service) - memoryBefore, 'MiB').to.be.below(100 + 5 * NEVER_READING);
    expect(await service.kill('SIGTERM').exited()).to.equal(0);
  });

  it('that never read, and send a flood of requests, are cut off before these fill the memory', async function () {
    this.timeout(60_000);
    const service = serveQuietly({ KEEP_ALIVE_TIMEOUT: '60s' });
    const port = await service.port();
    await timeCreates(port, 1n);
    const [socketsBefore, memoryBefore] = [openSockets(service), memoryMib(service)];
    const clients = await askWithoutReading(port, 40, 20_000);
    await untilOpenSockets(service, port, socketsBefore);
    for (const socket of clients) socket.destroy();
    expect(peakMemoryMib(service) - memoryBefore, 'MiB').to.be.below(190);
  });

  async function askWithoutReading(port: number, clients: number, requests: number): Promise<Socket[]> {
    const connected = Array.from({ length: clients }, () => RawClient.connect(port, { isRecorded: false }));
    return (await Promise.all(connected)).map(({ socket }) => {
      socket.pause();
      socket.write(ask(requests));
      return socket;
    });
  }

  /** Resolves when the service has closed all other connections; creates are served meanwhile. */
  async function untilOpenSockets(service: Executable, port: number, count: number): Promise<void> {
    // The last of these creates may not have been seen to leave.
    do await createOnce(port);
    while (openSockets(service) > count + 1);
  }

  let lastId = 1_000_000n;
  async function createOnce(port: number): Promise<void> {
    const client = await RawClient.connect(port, { isRecorded: false });
    expect(outcomeOf(await client.send(creating({ id: ++lastId, name: 'quick' })).answer())).to.equal(200);
    client.close();
    await client.ended();
  }

  describe('of slowhttptest', () => {
    before(function () {
      // It has no option that only tells its version.
      const isInstalled = spawnSync('sh', ['-c', 'command -v slowhttptest']).status === 0;
      needs(this, isInstalled, 'slowhttptest: apt-get install slowhttptest');
    });

    const MODES = {
      'slow headers': ['-H'],
      'slow bodies': ['-B'],
      'slow reading': ['-X', '-k', '5', '-w', '10', '-y', '20', '-n', '1', '-z', '8'],
    };
    for (const [mode, options] of Object.entries(MODES)) {
      it(`find it available all the time, with ${mode}`, async function () {
        this.timeout(120_000);
        const service = serveQuietly();
        const url = `http://127.0.0.1:${await service.port()}/openapi.json`;
        const seconds = sized(4, 60);
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
          '3',
          '-u',
          url,
        ];
        const attack = spawn('slowhttptest', [...options, ...load], { stdio: ['ignore', 'pipe', 'inherit'] });
        let shown = '';
        attack.stdout.on('data', (chunk) => {
          shown += chunk;
        });
        await once(attack, 'close');
        // biome-ignore lint/suspicious/noControlCharactersInRegex: it colours what it shows
        const plain = shown.replaceAll(/\x1b\[[\d;]*[A-Za-z]/g, '');
        const available = [...plain.matchAll(/service available:\s*(\w+)/g)].map(([, is]) => is);
        expect(available).to.include('YES').and.not.include('NO');
        expect(await service.kill('SIGTERM').exited()).to.equal(0);
      });
    }
  });
});
