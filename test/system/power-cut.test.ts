import { closeSync, ftruncateSync, openSync, readFileSync, realpathSync, writeFileSync, writeSync } from 'node:fs';
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
function strace(file: string, ...options: readonly string[]): readonly string[] {
  const format = ['-f', '-y', '-xx', '-s', '10000000', '-e', 'signal=none', '-e', `trace=${CALLS}`];
  return ['strace', ...format, ...options, '-o', file];
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
    const copies = new Map(['', '-wal'].map((suffix) => [database + suffix, cut + suffix]));
    const store = sqliteStore(cut);
    for (const [index, { call }] of responses.entries()) {
      // Always at the last response, because no later sync can hide its loss.
      if (Math.random() * PLANTS > CUTS && index < PLANTS - 1) continue;
      cutPower(calls, call, copies);
      expect(await store.checkIntegrity()).to.deep.equal([]);
      const stored = new Map((await store.readPlants()).map(({ id, name }) => [id, name]));
      const unexpected = [...stored].filter(([id, name]) => plants.get(id)?.name !== name).map(([id]) => id);
      const lost = responses.slice(0, index + 1).filter(({ id }) => !stored.has(id));
      expect({ unexpected, lost: lost.map(({ id }) => id) }).to.deep.equal({ unexpected: [], lost: [] });
    }
    const checkpoints = calls.filter(({ name, path }) => name.endsWith('sync') && path === database);
    expect(checkpoints).to.have.lengthOf.above(1);
  });

  it('loses no plant that was acknowledged after a sync that failed, nor after a restart', async () => {
    const [database, cut] = [join(folder, 'failed.db'), join(folder, 'failed-cut.db')];
    // strace counts the calls of each thread.
    const settings = { DATABASE_URL: `sqlite:${database}`, LOG_LEVEL: 'fatal', UV_THREADPOOL_SIZE: '1' };
    const acknowledged: bigint[] = [];
    let id = 0n;
    /** Creates plants while syncs fail, and kills the service at once or after more creates. */
    const run = async (trace: string, when: string, isKilledAtOnce: boolean) => {
      const failure = ['-e', `inject=fsync,fdatasync:error=EIO:when=${when}`];
      const service = serve(folder, settings, strace(trace, ...failure));
      const port = await service.port();
      for (const end = id + 40n; id < end; id++) {
        const response = await create(port, { id, name: `${id} `.repeat(1000) });
        if (response?.status === 200) acknowledged.push(id);
        else if (isKilledAtOnce) break;
      }
      process.kill(Number.parseInt(readFileSync(trace, 'utf8'), 10), 'SIGKILL');
      await service.exited();
    };
    const traces = ['failed-1', 'failed-2', 'failed-3'].map((name) => join(folder, name));
    const [first = '', second = '', third = ''] = traces;
    await run(first, '20..21', false);
    await run(second, '8', true);
    await run(third, '4', false);
    const trace = join(folder, 'failed');
    writeFileSync(trace, traces.map((path) => readFileSync(path, 'latin1')).join(''), 'latin1');
    const calls = systemCalls(trace);
    expect(calls.filter(({ hasFailed }) => hasFailed)).to.have.lengthOf(4);
    const last = calls.findLast(({ bytes }) => bytes.includes('HTTP/1.1 200 '));
    if (last) cutPower(calls, last, new Map(['', '-wal'].map((suffix) => [database + suffix, cut + suffix])));
    const stored = (await sqliteStore(cut).readPlants()).map((plant) => plant.id);
    expect(stored).to.include.members(acknowledged.slice(0, -1));
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

/** A system call that succeeded, or a sync that failed. */
interface SystemCall {
  readonly name: string;
  /** Path of its file. */
  readonly path: string;
  /** What it writes, and at which offset; or the new length of the file. */
  readonly bytes: Buffer;
  readonly at: number;
  /** Whether it is a sync that failed. Linux does not write its pages later, unless they change (fsync(2), errors). */
  readonly hasFailed: boolean;
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
    const call = /^(\w+)\(\d+<([^>]*)>(.*?)(\d*)\) += (\d|-1 EIO)/.exec(rest === undefined ? event : start + rest);
    if (call === null) continue;
    const [, name = '', path = '', args = '', last = '0', result] = call;
    const strings = [...args.matchAll(/"([^"]*)"/g)].map(([, string = '']) => parseHex(string));
    const bytes = Buffer.concat(strings);
    const hasFailed = result === '-1 EIO';
    calls.push({ name, path: parseHex(path).toString(), bytes, at: Number(last), hasFailed, began, ended: place });
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

/** Writes a copy of the files as a power cut leaves them while `response` is sent, if it loses what is not synced. */
function cutPower(calls: readonly SystemCall[], response: SystemCall, copies: ReadonlyMap<string, string>): void {
  const files = new Map(Array.from(copies, ([path, copy]) => [path, openSync(copy, 'w')]));
  let unsynced: SystemCall[] = [];
  for (const call of calls.filter((each) => isBefore(each, response))) {
    const file = files.get(call.path);
    if (file === undefined) continue;
    unsynced.push(call);
    if (!call.name.endsWith('sync')) continue;
    const isSynced = (change: SystemCall) => change.path === call.path && isBefore(change, call);
    for (const { name, bytes, at } of call.hasFailed ? [] : unsynced.filter(isSynced)) {
      if (name === 'ftruncate') ftruncateSync(file, at);
      else writeSync(file, bytes, 0, bytes.length, at);
    }
    unsynced = unsynced.filter((change) => !isSynced(change));
  }
  for (const file of files.values()) closeSync(file);
}
