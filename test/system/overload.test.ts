import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { type Executable, endProgramsAfterEach } from '../support/executable.js';
import { needs } from '../support/needs.js';
import { RawClient, request } from '../support/raw-http.js';
import { sized } from '../support/size.js';
import { temporaryFolder } from '../support/temporary.js';
import { creating, outcomeOf, serve, TOKEN } from './client.js';
import { memoryMib, openFiles, peakMemoryMib, quantile } from './resources.js';

const LOAD_MS = sized(2000, 60_000);
/** As many clients keep the service busy; ten times as many are too many for it. */
const ENOUGH_CLIENTS = 64;
const MAX_PENDING = 64;
/** How long clients wait after they were refused, in milliseconds; they are told a second. */
const PAUSES_MS = { 'that do as they are told': 1000, 'in a hurry': 20 };
const MIB = 1024 ** 2;
/** How long a load at half of what it can serve lasts. */
const HALF_LOAD_MS = 1000 * Number(process.env['SOAK_SECONDS'] ?? sized(2, 600));
/** What counts as quick, in milliseconds. In an ordinary run the clients, which share this process, may be what is slow. */
const QUICK_MS = sized(10_000, 1000);
/** How soon all is as before, in milliseconds. */
const SOON_MS = sized(10_000, 2000);
const IDLE_CONNECTIONS = sized(2000, 10_000);

/** What became of one create, and how long that took. */
interface Attempt {
  readonly outcome: unknown;
  readonly retryAfter: string | undefined;
  readonly isClosing: boolean;
  readonly tookMs: number;
}

describe('Overload', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();
  let files = 0;
  let lastId = 10n;
  before(function () {
    needs(this, process.platform === 'linux', 'a /proc file system');
  });

  function serveLimited(environment: Readonly<Record<string, string>> = {}): Executable {
    const limits = { MAX_PENDING: `${MAX_PENDING}`, LOG_LEVEL: 'error' };
    return serve(folder, { DATABASE_URL: `sqlite:overload-${++files}.db`, ...limits, ...environment });
  }

  /** One create, over a connection that is kept. */
  async function attempt(client: RawClient, bytes: () => Buffer): Promise<Attempt> {
    const sentAt = performance.now();
    const answer = await client.send(bytes()).answer();
    return {
      outcome: outcomeOf(answer),
      retryAfter: answer?.headers['retry-after'],
      isClosing: answer?.headers['connection'] === 'close',
      tookMs: performance.now() - sentAt,
    };
  }

  const small = () => creating({ id: ++lastId, name: 'Monstera' });

  /** Has clients create plants, each as fast as it is answered, for a while; one that is refused comes again a little later. */
  async function load(port: number, clients: number, forMs: number, bytes = small, pauseMs = 20): Promise<Attempt[]> {
    const end = performance.now() + forMs;
    const attempts: Attempt[] = [];
    const work = Array.from({ length: clients }, async () => {
      let client = await RawClient.connect(port, { isRecorded: false });
      while (performance.now() < end) {
        const result = await attempt(client, bytes);
        attempts.push(result);
        if (result.outcome === 200 || result.outcome === 40902) continue;
        await setTimeout(pauseMs);
        if (!result.isClosing) continue;
        client.close();
        client = await RawClient.connect(port, { isRecorded: false });
      }
      client.close();
    });
    await Promise.all(work);
    return attempts;
  }

  function expectAcceptedOrRefused(attempts: readonly Attempt[]) {
    // The large ones are always the same plant.
    const accepted = attempts.filter(({ outcome }) => outcome === 200 || outcome === 40902);
    const refused = attempts.filter(({ outcome }) => outcome === 50302);
    expect(accepted.length + refused.length, 'answers other than these').to.equal(attempts.length);
    expect(accepted, 'accepted').to.not.be.empty;
    expect(refused, 'refused').to.not.be.empty;
    expect(new Set(refused.map(({ retryAfter }) => retryAfter))).to.deep.equal(new Set(['1']));
    const ms = ({ tookMs }: Attempt) => tookMs;
    return { accepted: accepted.map(ms), refused: refused.map(ms) };
  }

  for (const [who, pauseMs] of Object.entries(PAUSES_MS)) {
    it(`by ten times as many clients ${who}: what is accepted is quick, the rest is refused at once, and soon all is as before`, async function () {
      this.timeout(3 * LOAD_MS + 60_000);
      const service = serveLimited();
      const port = await service.port();
      const peak = (await load(port, ENOUGH_CLIENTS, LOAD_MS)).length;
      const memoryBefore = memoryMib(service);

      const attempts = await load(port, 10 * ENOUGH_CLIENTS, LOAD_MS, small, pauseMs);
      await expectAsBefore(port);
      const { accepted, refused } = expectAcceptedOrRefused(attempts);
      expect(quantile(accepted, 0.99), 'ms').to.be.below(QUICK_MS);
      expect(quantile(refused, 0.99), 'ms').to.be.below(QUICK_MS);
      expect(peakMemoryMib(service) - memoryBefore, 'MiB').to.be.below(150);
      expect(accepted.length / peak, 'of the throughput without overload').to.be.at.least(sized(0.1, 0.8));
      expect(await service.kill('SIGTERM').exited()).to.equal(0);
    });
  }

  const json = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
  const large = `{"id":1,"name":"${'x'.repeat(MIB - 100)}"}`;
  const LARGE: Record<string, Buffer> = {
    'bodies of a mebibyte': request('POST /plants', json, large),
    'bombs that inflate to a mebibyte': request(
      'POST /plants',
      { ...json, 'Content-Encoding': 'gzip' },
      gzipSync(large),
    ),
  };
  for (const [what, bytes] of Object.entries(LARGE)) {
    it(`by ${what} on 100 connections: what waits stays within MAX_PENDING_BYTES, and memory with it`, async function () {
      this.timeout(LOAD_MS + 60_000);
      const service = serveLimited({ MAX_PENDING_BYTES: '8mb', MAX_PENDING: '10000', DATABASE_URL: 'memory:' });
      const port = await service.port();
      await load(port, 1, 300);
      const memoryBefore = memoryMib(service);
      expectAcceptedOrRefused(await load(port, 100, LOAD_MS, () => bytes));
      expect(peakMemoryMib(service) - memoryBefore, 'MiB').to.be.below(300);
      await expectAsBefore(port);
      expect(await service.kill('SIGTERM').exited()).to.equal(0);
    });
  }

  it('by bombs that inflate to a gibibyte on 100 connections: each is stopped, and memory stays', async function () {
    this.timeout(LOAD_MS + 60_000);
    const service = serveLimited({ DATABASE_URL: 'memory:', MAX_PENDING: '10000' });
    const port = await service.port();
    await load(port, 1, 300);
    const memoryBefore = memoryMib(service);
    const blanks = gzipSync(Buffer.alloc(64 * MIB, ' '));
    // Members behind one another are one body (RFC 1952 §2.2).
    const bomb = request(
      'POST /plants',
      { ...json, 'Content-Encoding': 'gzip' },
      Buffer.concat(Array(16).fill(blanks)),
    );
    const outcomes = (await load(port, 100, LOAD_MS, () => bomb)).map(({ outcome }) => outcome);
    expect([41301, 50302]).to.include.members([...new Set(outcomes)]);
    expect(outcomes).to.include(41301);
    expect(peakMemoryMib(service) - memoryBefore, 'MiB').to.be.below(300);
    await expectAsBefore(port);
    expect(await service.kill('SIGTERM').exited()).to.equal(0);
  });

  it(`by ${IDLE_CONNECTIONS.toLocaleString('en')} idle connections: they cost less than ${IDLE_CONNECTIONS / 100} MB`, async function () {
    this.timeout(120_000);
    const service = serveLimited({ DATABASE_URL: 'memory:', KEEP_ALIVE_TIMEOUT: '10m' });
    const port = await service.port();
    await load(port, ENOUGH_CLIENTS, 1000);
    const memoryBefore = memoryMib(service);
    const clients: RawClient[] = [];
    while (clients.length < IDLE_CONNECTIONS) {
      const more = Array.from({ length: 50 }, async () => {
        const client = await RawClient.connect(port, { isRecorded: false });
        expect((await attempt(client, small)).outcome).to.equal(200);
        clients.push(client);
      });
      await Promise.all(more);
    }
    const cost = memoryMib(service) - memoryBefore;
    await expectAsBefore(port);
    for (const client of clients) client.close();
    expect(cost, 'MiB').to.be.below(IDLE_CONNECTIONS / 100);
    expect(await service.kill('SIGTERM').exited()).to.equal(0);
  });

  it(`is none at half of what it can serve: after ${HALF_LOAD_MS / 1000} s it has no more memory, and no more files open`, async function () {
    this.timeout(2 * HALF_LOAD_MS + 60_000);
    const service = serveLimited({ MAX_PENDING: '10000' });
    const port = await service.port();
    const warmUpMs = HALF_LOAD_MS / 4;
    const perMs = (await load(port, ENOUGH_CLIENTS, warmUpMs)).length / warmUpMs;
    const [memoryBefore, filesBefore] = [memoryMib(service), openFiles(service)];
    // Half as many clients, each of which rests as long as it works.
    const pauseMs = ENOUGH_CLIENTS / perMs / 2;
    const end = performance.now() + HALF_LOAD_MS;
    const outcomes = new Map<unknown, number>();
    const work = Array.from({ length: ENOUGH_CLIENTS / 2 }, async () => {
      while (performance.now() < end) {
        const client = await RawClient.connect(port, { isRecorded: false });
        for (let times = 0; times < 100 && performance.now() < end; times++) {
          const { outcome } = await attempt(client, small);
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
          await setTimeout(pauseMs);
        }
        client.close();
      }
    });
    await Promise.all(work);
    await expectAsBefore(port);
    expect([...outcomes.keys()]).to.deep.equal([200]);
    expect(memoryMib(service) - memoryBefore, 'MiB').to.be.below(64);
    expect(openFiles(service) - filesBefore, 'files').to.be.below(5);
    expect(await service.kill('SIGTERM').exited()).to.equal(0);
  });

  /** Creates are served at once, one after the other. */
  async function expectAsBefore(port: number): Promise<void> {
    const begun = performance.now();
    const client = await RawClient.connect(port, { isRecorded: false });
    for (let times = 0; times < 20; times++) expect((await attempt(client, small)).outcome).to.equal(200);
    client.close();
    expect(performance.now() - begun, 'ms until all is as before').to.be.below(SOON_MS);
  }
});
