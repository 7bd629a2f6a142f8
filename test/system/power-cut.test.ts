import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { create, createRequest, serve, type TestPlant } from '../support/client.js';
import { sqliteStore } from '../support/engines.js';
import { RawClient } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';
import { testOrSoak } from './soak.js';
import { isBefore, isSyncOf, type SystemCall, skipUnlessTraceable, strace, systemCalls } from './system-calls.js';

/** Expected number of power cuts. */
const CUTS = testOrSoak(10, 200);
/** Number and size of the plants, large enough for several checkpoints of the write-ahead log. */
const PLANTS = 250;
const NAME_LENGTH = 20_000;
const CLIENTS = 8;
/** Options of strace: the calls that change or sync a file or send a response, with every byte as `\xNN`. */
const TRACE = ['pwrite64,ftruncate,fsync,fdatasync,write,writev,sendto,sendmsg', '-xx', '-s', '10000000'] as const;

describe('A power cut while a response is sent', () => {
  const folder = realpathSync(temporaryFolder());
  before(function () {
    skipUnlessTraceable(this);
  });
  const plants = new Map<bigint, TestPlant>();
  for (let id = 1n; id <= PLANTS; id++) plants.set(id, { id, name: `${id} `.repeat(NAME_LENGTH / 4) });

  it('loses no acknowledged plant and does not corrupt the SQLite file', async function () {
    this.timeout(120_000 + CUTS * 1000);
    const [trace, database, cut] = [join(folder, 'trace'), join(folder, 'plants.db'), join(folder, 'cut.db')];
    const environment = { DATABASE_URL: `sqlite:${database}`, LOG_LEVEL: 'fatal' };
    const service = serve(folder, environment, strace(trace, ...TRACE));
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

    const calls = systemCalls(readFileSync(trace, 'latin1')).filter(({ result }) => result >= 0);
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
      const wrapper = strace(trace, 'fsync,fdatasync,pwrite64,write,writev');
      const service = serve(folder, { DATABASE_URL: 'sqlite:new.db' }, wrapper);
      const port = await service.port();
      expect((await create(port, plant))?.outcome).to.equal(outcome);
      // After a second response, the trace has the first one completely.
      await create(port, plant);
      // Kills only the service, whose process id starts the trace, so that strace completes the trace.
      process.kill(Number.parseInt(readFileSync(trace, 'utf8'), 10), 'SIGKILL');
      await service.exited();
      const calls = systemCalls(readFileSync(trace, 'utf8'));
      const response = calls.find(({ args }) => /"HTTP\/1\.1 (200|409)/.test(args));
      const syncs = calls.filter((call) => response && isBefore(call, response));
      const writes = calls.filter(({ args }) => args.includes(`${log}>`) && args.includes(plant.name));
      expect(writes.length > 0, 'only the first service writes the plant').to.equal(outcome === 200);
      expect(syncs.some((call) => isSyncOf(call, log) && writes.every((write) => isBefore(write, call)))).to.equal(
        true,
      );
      if (outcome === 200) expect(syncs.some((call) => isSyncOf(call, folder))).to.equal(true);
    }
  });
});

/** A system call that changes or syncs a file. */
interface Change extends Pick<SystemCall, 'began' | 'ended'> {
  readonly path: string;
  readonly act: 'write' | 'truncate' | 'sync';
  readonly bytes: Buffer;
  readonly at: number;
}

/** A SQLite file and its log as a program changes them; only synced changes are sure to survive a power cut. */
class Disk {
  readonly #database: string;
  readonly #copy: string;
  readonly #changes: Change[];
  readonly #synced = new Map<string, Buffer>();
  #unsynced: Change[] = [];
  checkpoints = 0;

  /** @param copy path of the database that {@link cutPower} writes */
  constructor(calls: readonly SystemCall[], database: string, copy: string) {
    this.#database = database;
    this.#copy = copy;
    this.#changes = calls
      .flatMap((call) => toChange(call) ?? [])
      .filter(({ path }) => path === database || path === `${database}-wal`)
      .sort((one, other) => one.ended - other.ended);
  }

  /** Applies every change that ended before `call` began. */
  advanceTo(call: SystemCall): void {
    for (let [next] = this.#changes; next && isBefore(next, call); [next] = this.#changes) {
      this.#changes.shift();
      if (next.act === 'sync') this.#sync(next);
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
      if (bytes.length > 0 || (change.act === 'truncate' && kept > 1 / 2)) applyChange({ ...change, bytes }, files);
    }
    for (const suffix of ['', '-wal'])
      writeFileSync(`${this.#copy}${suffix}`, files.get(`${this.#database}${suffix}`) ?? '');
  }

  #sync(sync: Change): void {
    const isSynced = (change: Change) => change.path === sync.path && isBefore(change, sync);
    const synced = this.#unsynced.filter(isSynced);
    this.#unsynced = this.#unsynced.filter((change) => !isSynced(change));
    for (const change of synced) applyChange(change, this.#synced);
    if (synced.length > 0 && sync.path === this.#database) this.checkpoints++;
  }
}

function applyChange({ path, act, bytes, at }: Change, files: Map<string, Buffer>): void {
  const file = files.get(path) ?? Buffer.alloc(0);
  const changed = Buffer.alloc(act === 'truncate' ? at : Math.max(file.length, at + bytes.length));
  file.copy(changed);
  bytes.copy(changed, at);
  files.set(path, changed);
}

const ACTS: Partial<Record<string, Change['act']>> = {
  ...{ pwrite64: 'write', ftruncate: 'truncate', fsync: 'sync', fdatasync: 'sync' },
};

function toChange({ name, args, began, ended }: SystemCall): Change | undefined {
  const act = ACTS[name];
  // `fd<path>, "bytes", count, offset`, with every byte of paths and data as `\xNN`.
  const [, path, bytes = '', first, second] = /^\d+<([^>]*)>(?:, "([^"]*)")?(?:, (\d+))?(?:, (\d+))?$/.exec(args) ?? [];
  if (act === undefined || path === undefined) return undefined;
  const at = Number(act === 'write' ? second : (first ?? 0));
  return { began, ended, path: parseHex(path).toString(), act, bytes: parseHex(bytes), at };
}

function parseHex(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}

function acknowledgedIds({ name, args }: SystemCall): bigint[] {
  if (!/^(write|writev|sendto|sendmsg)$/.test(name)) return [];
  const sent = [...args.matchAll(/"([^"]*)"/g)].map(([, bytes = '']) => parseHex(bytes).toString('latin1')).join('');
  const responses = sent.split(/(?=HTTP\/1\.1 )/).filter((response) => response.startsWith('HTTP/1.1 200 '));
  return responses.flatMap((response) => /x-request-id: (\d+)/i.exec(response)?.[1] ?? []).map(BigInt);
}
