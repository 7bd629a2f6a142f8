import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestPlant } from '../support/client.js';
import { sqliteStore } from '../support/engines.js';
import { isBefore, type SystemCall, strace, systemCalls } from './system-calls.js';

/** Returns the command prefix that traces a program for {@link simulatePowerCuts}. */
export function traceCommand(trace: string): readonly [string, ...string[]] {
  const calls = 'pwrite64,ftruncate,fsync,fdatasync,write,writev,sendto,sendmsg';
  return strace(trace, calls, '-xx', '-s', '10000000');
}

/** Effects of power cuts on a SQLite file. */
export interface Losses {
  /** Acknowledged plants that are missing or altered. */
  readonly lost: number;
  /** Stored plants that no client sent. */
  readonly unexpected: number;
  /** Errors that SQLite's integrity check reports. */
  readonly integrityErrors: readonly string[];
  /** Number of checkpoints of the write-ahead log before the last cut. */
  readonly checkpoints: number;
}

/**
 * Simulates power cuts at moments when a response is about to be sent, and opens the resulting databases. The disk keeps
 * everything synced by then, and none, some or parts of the other writes.
 *
 * @param traceFile output of {@link traceCommand}; the X-Request-Id of each response is the id of its plant
 * @param database path of the SQLite file in the trace
 * @param folder folder for the files that a cut leaves
 * @param cuts expected number of cuts
 */
export async function simulatePowerCuts(
  traceFile: string,
  database: string,
  plants: ReadonlyMap<bigint, TestPlant>,
  folder: string,
  cuts: number,
): Promise<Losses> {
  const calls = systemCalls(readFileSync(traceFile, 'latin1')).filter(({ result }) => result >= 0);
  const responses = calls.flatMap((call) => acknowledgedIds(call).map((id) => ({ id, call })));
  const path = join(folder, 'cut.db');
  const disk = new Disk(calls, database, path);
  const store = sqliteStore(path);
  let [lost, unexpected] = [0, 0];
  const integrityErrors = new Set<string>();
  for (const [index, response] of responses.entries()) {
    // Always at the last response, because no later sync can hide its loss.
    if (Math.random() * responses.length > cuts && index < responses.length - 1) continue;
    disk.advanceTo(response.call);
    for (const keepUnsynced of [() => 0, Math.random]) {
      disk.cutPower(keepUnsynced);
      // Opening the file throws if it is no longer a database.
      const errors = await store.checkIntegrity().catch((error: unknown) => [`${error}`]);
      for (const error of errors) integrityErrors.add(error);
      // Reading throws if the table does not exist.
      const read = await store.readPlants().catch(() => []);
      const stored = new Map(read.map(({ id, name }) => [id, name]));
      const acknowledged = responses.slice(0, index + 1);
      lost += acknowledged.filter(({ id }) => stored.get(id) !== plants.get(id)?.name).length;
      unexpected += [...stored].filter(([id, name]) => plants.get(id)?.name !== name).length;
    }
  }
  if (responses.length === 0) throw new Error(`no response in ${traceFile}`);
  return { lost, unexpected, integrityErrors: [...integrityErrors], checkpoints: disk.checkpoints };
}

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
