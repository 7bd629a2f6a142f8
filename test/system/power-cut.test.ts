import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { create, createRequest, serve } from '../support/client.js';
import { sqliteStore } from '../support/engines.js';
import type { TestPlant } from '../support/plants.js';
import { RawClient } from '../support/raw-http.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';

/** Expected number of power cuts. */
const CUTS = 10;
/** Number and size of the plants, large enough for several checkpoints of the write-ahead log. */
const PLANTS = 250;
const NAME_LENGTH = 20_000;
const CLIENTS = 8;
/** The calls that change or sync a file or send a response. */
const CALLS = 'pwrite64,ftruncate,fsync,fdatasync,write,writev,sendto,sendmsg';

/** Returns the command prefix that writes the system calls of a program to `file`, with every byte as `\xNN`. */
function strace(file: string): readonly string[] {
  return ['strace', '-f', '-y', '-xx', '-s', '10000000', '-e', 'signal=none', '-e', `trace=${CALLS}`, '-o', file];
}

describe('A power cut while a response is sent', () => {
  const folder = realpathSync(temporaryFolder());
  before(function () {
    skipUnlessInstalled(this, 'strace', '-o', '/dev/null', 'true');
  });

  it('loses no acknowledged plant and does not corrupt the SQLite file', async function () {
    this.timeout(120_000 + CUTS * 1000);
    const plants = new Map<bigint, TestPlant>();
    for (let id = 1n; id <= PLANTS; id++) plants.set(id, { id, name: `${id} `.repeat(NAME_LENGTH / 4) });
    const [trace, database, cut] = [join(folder, 'trace'), join(folder, 'plants.db'), join(folder, 'cut.db')];
    const service = serve(folder, { DATABASE_URL: `sqlite:${database}`, LOG_LEVEL: 'fatal' }, strace(trace));
    const port = await service.port();
    const unsent = plants.values();
    const clients = Array.from({ length: CLIENTS }, async () => {
      const client = await RawClient.connect(port);
      for (const plant of unsent) {
        const response = await client.send(createRequest(plant, { 'X-Request-Id': `${plant.id}` })).readResponse();
        expect(response?.outcome).to.equal(200);
      }
    });
    await Promise.all(clients);
    await service.killGroup('SIGTERM').exited();

    const calls = systemCalls(trace);
    const responses = calls.flatMap((call) => acknowledgedIds(call).map((id) => ({ id, call })));
    expect(responses).to.have.lengthOf(PLANTS);
    const disk = new Disk(calls, database, cut);
    const store = sqliteStore(cut);
    for (const [index, { call }] of responses.entries()) {
      // Always at the last response, because no later sync can hide its loss.
      if (Math.random() * PLANTS > CUTS && index < PLANTS - 1) continue;
      disk.advanceTo(call);
      for (const keepUnsynced of [() => 0, Math.random]) {
        disk.cutPower(keepUnsynced);
        expect(await store.checkIntegrity()).to.deep.equal([]);
        const stored = new Map((await store.readPlants()).map(({ id, name }) => [id, name]));
        const unexpected = [...stored].filter(([id, name]) => plants.get(id)?.name !== name).map(([id]) => id);
        const lost = responses.slice(0, index + 1).filter(({ id }) => !stored.has(id));
        expect({ unexpected, lost: lost.map(({ id }) => id) }).to.deep.equal({ unexpected: [], lost: [] });
      }
    }
    expect(disk.checkpoints).to.be.above(1);
  });

  it('loses neither a new file nor a plant that a killed service left in the log, because both are synced before', async () => {
    const plant = { id: 1n, name: 'Strelitzia reginae' };
    const log = join(folder, 'new.db-wal');
    for (const outcome of [200, 40902]) {
      const trace = join(folder, `trace-${outcome}`);
      const service = serve(folder, { DATABASE_URL: 'sqlite:new.db' }, strace(trace));
      const port = await service.port();
      expect((await create(port, plant))?.outcome).to.equal(outcome);
      // After a second response, the trace has the first one completely.
      await create(port, plant);
      // Kills only the service, whose process id starts the trace, so that strace completes the trace.
      process.kill(Number.parseInt(readFileSync(trace, 'utf8'), 10), 'SIGKILL');
      await service.exited();
      const calls = systemCalls(trace);
      const response = calls.find(({ bytes }) => /^HTTP\/1\.1 (200|409)/.test(bytes.toString('latin1')));
      const syncs = calls.filter((call) => call.name.endsWith('sync') && response && isBefore(call, response));
      const writes = calls.filter(({ path, bytes }) => path === log && bytes.includes(plant.name));
      expect(writes.length > 0, 'only the first service writes the plant').to.equal(outcome === 200);
      const logSyncs = syncs.filter(({ path }) => path === log);
      expect(logSyncs.some((sync) => writes.every((write) => isBefore(write, sync)))).to.equal(true);
      if (outcome === 200) expect(syncs.some(({ path }) => path === folder)).to.equal(true);
    }
  });
});

/** A system call that succeeded. */
interface SystemCall {
  readonly name: string;
  /** Path of its file. */
  readonly path: string;
  /** What it writes, and at which offset; or the new length of the file. */
  readonly bytes: Buffer;
  readonly at: number;
  /** Positions of its start and end among the events of all threads. */
  readonly began: number;
  readonly ended: number;
}

/**
 * Parses a trace in the order of the ends of its calls. strace splits a call when another thread interleaves:
 * `PID NAME(ARGS <unfinished ...>` and `PID <... NAME resumed>ARGS) = RESULT`.
 */
function systemCalls(trace: string): SystemCall[] {
  const calls: SystemCall[] = [];
  const unfinished = new Map<string, { readonly start: string; readonly began: number }>();
  for (const [place, line] of readFileSync(trace, 'latin1').split('\n').entries()) {
    const [, pid = '', event = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const [, beginning] = /^(.*) <unfinished \.\.\.>$/.exec(event) ?? [];
    if (beginning !== undefined) {
      unfinished.set(pid, { start: beginning, began: place });
      continue;
    }
    const [, rest] = /^<\.\.\. \w+ resumed>(.*)$/.exec(event) ?? [];
    const { start, began } = (rest !== undefined && unfinished.get(pid)) || { start: '', began: place };
    // The first argument is `FD<PATH>`; the last one is an offset or a length, if the call has one.
    const call = /^(\w+)\(\d+<([^>]*)>(.*?)(\d*)\) += \d/.exec(rest === undefined ? event : start + rest);
    if (call === null) continue;
    const [, name = '', path = '', args = '', last = '0'] = call;
    const strings = [...args.matchAll(/"([^"]*)"/g)].map(([, string = '']) => parseHex(string));
    const bytes = Buffer.concat(strings);
    calls.push({ name, path: parseHex(path).toString(), bytes, at: Number(last), began, ended: place });
  }
  return calls;
}

function parseHex(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}

/** Returns whether `call` ended before `other` began. */
function isBefore(call: SystemCall, other: SystemCall): boolean {
  return call.ended < other.began;
}

function acknowledgedIds({ bytes }: SystemCall): bigint[] {
  const responses = bytes.toString('latin1').split(/(?=HTTP\/1\.1 )/);
  const created = responses.filter((response) => response.startsWith('HTTP/1.1 200 '));
  return created.flatMap((response) => /x-request-id: (\d+)/i.exec(response)?.[1] ?? []).map(BigInt);
}

/** A SQLite file and its log as a program changes them; only synced changes are sure to survive a power cut. */
class Disk {
  readonly #database: string;
  readonly #copy: string;
  readonly #changes: SystemCall[];
  readonly #synced = new Map<string, Buffer>();
  #unsynced: SystemCall[] = [];
  checkpoints = 0;

  /** @param copy path of the database that {@link cutPower} writes */
  constructor(calls: readonly SystemCall[], database: string, copy: string) {
    this.#database = database;
    this.#copy = copy;
    this.#changes = calls.filter(({ path }) => path === database || path === `${database}-wal`);
  }

  /** Applies every change that ended before `call` began. */
  advanceTo(call: SystemCall): void {
    for (let [next] = this.#changes; next && isBefore(next, call); [next] = this.#changes) {
      this.#changes.shift();
      if (next.name.endsWith('sync')) this.#sync(next);
      else this.#unsynced.push(next);
    }
  }

  /** Writes the files as a power cut leaves them. `keep` returns, from 0 to 1, how much of an unsynced change survives. */
  cutPower(keep: () => number): void {
    const files = new Map(this.#synced);
    for (const change of this.#unsynced) {
      const kept = keep();
      // A third of the changes survive, a third do not, and a third survive in part, in sectors of 512 bytes.
      const length = Math.floor((change.bytes.length * Math.min(1, Math.max(0, kept * 3 - 1))) / 512) * 512;
      const bytes = kept > 2 / 3 ? change.bytes : change.bytes.subarray(0, length);
      const isTruncated = change.name === 'ftruncate' && kept > 1 / 2;
      if (bytes.length > 0 || isTruncated) applyChange({ ...change, bytes }, files);
    }
    for (const suffix of ['', '-wal'])
      writeFileSync(`${this.#copy}${suffix}`, files.get(`${this.#database}${suffix}`) ?? '');
  }

  #sync(sync: SystemCall): void {
    const isSynced = (change: SystemCall) => change.path === sync.path && isBefore(change, sync);
    const synced = this.#unsynced.filter(isSynced);
    this.#unsynced = this.#unsynced.filter((change) => !isSynced(change));
    for (const change of synced) applyChange(change, this.#synced);
    if (synced.length > 0 && sync.path === this.#database) this.checkpoints++;
  }
}

function applyChange({ path, name, bytes, at }: SystemCall, files: Map<string, Buffer>): void {
  const file = files.get(path) ?? Buffer.alloc(0);
  const changed = Buffer.alloc(name === 'ftruncate' ? at : Math.max(file.length, at + bytes.length));
  file.copy(changed);
  bytes.copy(changed, at);
  files.set(path, changed);
}
