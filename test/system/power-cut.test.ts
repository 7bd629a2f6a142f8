import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { create, createRequest, RawClient, serve } from '../support/client.js';
import { sqliteStore } from '../support/engines.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';

/** Expected number of power cuts. */
const CUTS = 10;
/** Number and size of the plants, large enough for several checkpoints of the write-ahead log. */
const PLANTS = 250;
const NAME_LENGTH = 20_000;
const CLIENTS = 8;
/** Writes the calls that change or sync a file or send a response, with every byte as `\xNN`, to one file per thread. */
const STRACE = [
  ...['strace', '-ff', '-y', '-xx', '-s', '10000000', '-e', 'signal=none'],
  ...['-e', 'trace=pwrite64,ftruncate,fsync,fdatasync,write,writev,sendto,sendmsg'],
  ...['--absolute-timestamps=format:unix,precision:ns', '--syscall-times=ns'],
];

describe('A power cut while a response is sent', () => {
  const folder = fs.realpathSync(temporaryFolder());
  before(function () {
    skipUnlessInstalled(this, 'strace', '-o', '/dev/null', 'true');
  });

  /** Starts a traced service. `end` kills it and returns its calls. @param failure which syncs fail, as of strace(1) */
  async function start(database: string, failure?: string) {
    const trace = fs.mkdtempSync(join(folder, 'trace-'));
    const inject = failure === undefined ? [] : ['-e', `inject=fsync,fdatasync:error=EIO:when=${failure}`];
    // strace counts the calls of each thread.
    const threads = failure === undefined ? {} : { UV_THREADPOOL_SIZE: '1' };
    const settings = { DATABASE_URL: `sqlite:${database}`, LOG_LEVEL: 'fatal', ...threads };
    const service = serve(folder, settings, [...STRACE, ...inject, '-o', join(trace, 'thread')]);
    const end = async () => {
      const { pid } = service.process;
      // Kills only the service, so that strace completes the trace.
      process.kill(Number(fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')), 'SIGKILL');
      await service.exited();
      return systemCalls(trace);
    };
    return { port: await service.port(), end };
  }

  it('loses no acknowledged plant and does not corrupt the SQLite file', async () => {
    const nameOf = (id: bigint) => `${id} `.repeat(NAME_LENGTH / 4);
    const database = join(folder, 'plants.db');
    const service = await start(database);
    let lastId = 0n;
    const clients = Array.from({ length: CLIENTS }, async () => {
      const client = await RawClient.connect(service.port);
      while (lastId < PLANTS) {
        const id = ++lastId;
        const create = createRequest({ id, name: nameOf(id) }, { 'X-Request-Id': `${id}` });
        expect(await client.send(create).readResponse()).to.include({ outcome: 200 });
      }
    });
    await Promise.all(clients);
    const calls = await service.end();

    const responses = calls.flatMap((call) => {
      const ids = call.bytes.toString('latin1').matchAll(/HTTP\/1\.1 200 .*?x-request-id: (\d+)/gis);
      return [...ids].map(([, id = '']) => ({ id: BigInt(id), call }));
    });
    expect(responses).to.have.lengthOf(PLANTS);
    for (const [index, { call }] of responses.entries()) {
      // Always at the last response, because no later sync can hide its loss.
      if (Math.random() * PLANTS > CUTS && index < PLANTS - 1) continue;
      const store = cutPower(calls, call, database);
      expect(await store.checkIntegrity()).to.deep.equal([]);
      const plants = await store.readPlants();
      const acknowledged = responses.slice(0, index + 1).map(({ id }) => id);
      expect(plants.map(({ id }) => id)).to.include.members(acknowledged);
      expect(plants.filter(({ id, name }) => name !== nameOf(id))).to.deep.equal([]);
    }
    const checkpoints = calls.filter(({ name, path }) => name.endsWith('sync') && path === database);
    expect(checkpoints).to.have.lengthOf.above(1);
  });

  it('loses no plant that was acknowledged after a sync that failed, nor after a restart', async () => {
    const database = join(folder, 'failed.db');
    const calls: SystemCall[] = [];
    const acknowledged: bigint[] = [];
    let id = 0n;
    for (const { failure, isKilledAtOnce } of [
      { failure: '20..21', isKilledAtOnce: false },
      { failure: '8', isKilledAtOnce: true },
      { failure: '4', isKilledAtOnce: false },
    ]) {
      const service = await start(database, failure);
      for (const end = id + 40n; id < end; id++) {
        const response = await create(service.port, { id, name: `${id} `.repeat(1000) });
        if (response?.status === 200) acknowledged.push(id);
        else if (isKilledAtOnce) break;
      }
      calls.push(...(await service.end()));
    }
    expect(calls.filter(({ hasFailed }) => hasFailed)).to.have.lengthOf(4);
    const last = calls.findLast(({ bytes }) => bytes.includes('HTTP/1.1 200 '));
    const stored = (await cutPower(calls, last, database).readPlants()).map((plant) => plant.id);
    expect(stored).to.include.members(acknowledged.slice(0, -1));
  });

  it('loses neither a new file nor a plant that another service left in the log, because both are synced before', async () => {
    const database = join(folder, 'new.db');
    const service = await start(database);
    const plant = { id: 1n, name: 'Strelitzia reginae' };
    // The trace may lack the last response.
    for (const outcome of [200, 40902, 40902]) expect((await create(service.port, plant))?.outcome).to.equal(outcome);
    const calls = await service.end();
    const [created, found] = calls.filter(({ bytes }) => bytes.includes('HTTP/1.1 '));
    const syncs = calls.filter(({ name }) => name.endsWith('sync'));
    expect(syncs.some((sync) => sync.path === folder && isBefore(sync, created))).to.equal(true);
    const logSyncs = syncs.filter(({ path }) => path === `${database}-wal`);
    expect(logSyncs.some((sync) => created && isBefore(created, sync) && isBefore(sync, found))).to.equal(true);
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
  /** Times in seconds. */
  readonly began: number;
  readonly ended: number;
}

/** Reads the traces of all threads in a folder: `TIME NAME(FD<PATH>, …) = RESULT <DURATION>`. Sorts by the ends of the calls. */
function systemCalls(folder: string): SystemCall[] {
  const parseHex = (text: string) => Buffer.from(text.replaceAll('\\x', ''), 'hex');
  const lines = fs.readdirSync(folder).flatMap((name) => fs.readFileSync(join(folder, name), 'latin1').split('\n'));
  const calls = lines.flatMap((line): SystemCall[] => {
    // The last argument is an offset or a length, if the call has one.
    const parts = /^([\d.]+) (\w+)\(\d+<([^>]*)>(.*?)(\d*)\) += (\d|-1 EIO).*<([\d.]+)>$/.exec(line);
    if (parts === null) return [];
    const [, began = '', name = '', path = '', args = '', at = '', result, duration] = parts;
    const bytes = Buffer.concat([...args.matchAll(/"([^"]*)"/g)].map(([, text = '']) => parseHex(text)));
    const times = { began: Number(began), ended: Number(began) + Number(duration) };
    return [{ name, path: `${parseHex(path)}`, bytes, at: Number(at), hasFailed: result === '-1 EIO', ...times }];
  });
  return calls.sort((one, other) => one.ended - other.ended);
}

/** Returns whether `call` ended before `other` began. */
function isBefore(call: SystemCall, other: SystemCall | undefined): boolean {
  return other !== undefined && call.ended < other.began;
}

/** Copies a database as a power cut leaves it while `response` is sent, if the cut loses what is not synced. */
function cutPower(calls: readonly SystemCall[], response: SystemCall | undefined, database: string) {
  for (const suffix of ['', '-wal']) {
    const copy = fs.openSync(`${database}.cut${suffix}`, 'w');
    let unsynced: SystemCall[] = [];
    for (const call of calls.filter(({ path }) => path === database + suffix)) {
      if (!isBefore(call, response)) continue;
      unsynced.push(call);
      if (!call.name.endsWith('sync')) continue;
      for (const { name, bytes, at } of call.hasFailed ? [] : unsynced.filter((change) => isBefore(change, call))) {
        if (name === 'ftruncate') fs.ftruncateSync(copy, at);
        else fs.writeSync(copy, bytes, 0, bytes.length, at);
      }
      unsynced = unsynced.filter((change) => !isBefore(change, call));
    }
    fs.closeSync(copy);
  }
  return sqliteStore(`${database}.cut`);
}
