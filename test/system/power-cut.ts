import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestPlant } from '../support/client.js';
import { sqliteStore, type TestStore } from '../support/engines.js';
import type { Random } from '../support/random.js';
import { isBefore, type SystemCall, strace, systemCalls } from './system-calls.js';

/** Returns the command prefix that traces a program for {@link simulatePowerCuts}. */
export function traceCommand(trace: string): readonly [string, ...string[]] {
  const calls = 'pwrite64,ftruncate,fsync,fdatasync,write,writev,sendto,sendmsg';
  return strace(trace, calls, '-xx', '-s', '10000000');
}

/** Effects of power cuts on a SQLite file. */
export interface Losses {
  /** Number of simulated cuts. */
  readonly cuts: number;
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
 */
export async function simulatePowerCuts(
  traceFile: string,
  database: string,
  plants: ReadonlyMap<bigint, TestPlant>,
  folder: string,
  random: Random,
  cuts: number,
): Promise<Losses> {
  const calls = systemCalls(readFileSync(traceFile, 'latin1')).filter(({ result }) => result >= 0);
  const responses = calls.flatMap((call) => acknowledgedIds(call).map((id) => ({ id, call })));
  const path = join(folder, 'cut.db');
  const disk = new Disk(calls, [
    [database, path],
    [`${database}-wal`, `${path}-wal`],
  ]);
  const total = { lost: 0, unexpected: 0, integrityErrors: new Set<string>() };
  const chosen = responses.map((_, index) => index).filter((index) => random() < cuts / (responses.length - index));
  // Always include the last response, because no later sync can hide its loss.
  for (const index of new Set([...chosen, responses.length - 1])) {
    const response = responses[index];
    if (response === undefined) throw new Error(`no response in ${traceFile}`);
    disk.advanceTo(response.call);
    for (const keepUnsynced of [() => 0, random]) {
      disk.cutPower(keepUnsynced);
      const store = sqliteStore(path);
      // Opening the file throws if it is no longer a database.
      const errors = await store.checkIntegrity().catch((error: unknown) => [`${error}`]);
      for (const error of errors) total.integrityErrors.add(error);
      const stored = await readNames(store);
      const acknowledged = responses.slice(0, index + 1).map(({ id }) => id);
      total.lost += acknowledged.filter((id) => stored.get(id) !== plants.get(id)?.name).length;
      total.unexpected += [...stored].filter(([id, name]) => plants.get(id)?.name !== name).length;
    }
  }
  return { ...total, integrityErrors: [...total.integrityErrors], cuts: chosen.length, checkpoints: disk.checkpoints };
}

/** Reads the names by id; returns an empty map if the table does not exist. */
async function readNames(store: TestStore): Promise<ReadonlyMap<bigint, string>> {
  try {
    return new Map((await store.readPlants()).map(({ id, name }) => [id, name]));
  } catch {
    return new Map();
  }
}

/** A system call that changes or syncs a file. */
interface Change {
  readonly call: SystemCall;
  readonly path: string;
  readonly act: 'write' | 'truncate' | 'sync';
  readonly bytes: Buffer;
  readonly at: number;
}

/** Files changed by a program; only synced changes are sure to survive a power cut. */
class Disk {
  readonly #changes: Change[];
  readonly #synced: Map<string, Buffer>;
  readonly #copies: readonly (readonly [string, string])[];
  #unsynced: Change[] = [];
  checkpoints = 0;

  /** @param copies path of each file, and the path of its copy that {@link cutPower} writes */
  constructor(calls: readonly SystemCall[], copies: readonly (readonly [string, string])[]) {
    this.#copies = copies;
    this.#synced = new Map(copies.map(([path]) => [path, Buffer.alloc(0)]));
    const changes = calls.flatMap((call) => toChange(call) ?? []);
    this.#changes = changes
      .filter(({ path }) => this.#synced.has(path))
      .sort((one, other) => one.call.ended - other.call.ended);
  }

  /** Applies every change that ended before `call` began. */
  advanceTo(call: SystemCall): void {
    for (let [next] = this.#changes; next && isBefore(next.call, call); [next] = this.#changes) {
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
      if (bytes.length > 0 || (change.act === 'truncate' && kept > 1 / 2)) {
        files.set(change.path, applyChange({ ...change, bytes }, files.get(change.path)));
      }
    }
    for (const [path, copy] of this.#copies) writeFileSync(copy, files.get(path) ?? '');
  }

  #sync({ path, call }: Change): void {
    const isSynced = (change: Change) => change.path === path && isBefore(change.call, call);
    const synced = this.#unsynced.filter(isSynced);
    if (synced.length === 0) return;
    this.#unsynced = this.#unsynced.filter((change) => !isSynced(change));
    this.#synced.set(
      path,
      synced.reduce<Buffer>((file, change) => applyChange(change, file), this.#synced.get(path) ?? Buffer.alloc(0)),
    );
    if (path === this.#copies[0]?.[0]) this.checkpoints++;
  }
}

function applyChange({ act, bytes, at }: Change, file: Buffer = Buffer.alloc(0)): Buffer {
  const length = act === 'truncate' ? at : Math.max(file.length, at + bytes.length);
  const changed = Buffer.alloc(length);
  file.copy(changed);
  bytes.copy(changed, at);
  return changed;
}

/** `fd<path>, "bytes", count, offset`, with every byte of paths and data as `\xNN`. */
const ARGUMENTS = /^\d+<([^>]*)>(?:, "([^"]*)")?(?:, (\d+))?(?:, (\d+))?$/;

function toChange({ name, args, ...call }: SystemCall): Change | undefined {
  const act = ACTS[name];
  const [, path, bytes = '', first, second] = ARGUMENTS.exec(args) ?? [];
  if (act === undefined || path === undefined) return undefined;
  return {
    call: { name, args: '', ...call },
    path: parseHex(path).toString(),
    act,
    bytes: parseHex(bytes),
    at: Number(act === 'write' ? second : (first ?? 0)),
  };
}

const ACTS: Partial<Record<string, Change['act']>> = {
  pwrite64: 'write',
  ftruncate: 'truncate',
  fsync: 'sync',
  fdatasync: 'sync',
};

function parseHex(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}

function acknowledgedIds({ name, args }: SystemCall): bigint[] {
  if (!/^(write|writev|sendto|sendmsg)$/.test(name)) return [];
  const sent = [...args.matchAll(/"([^"]*)"/g)].map(([, bytes = '']) => parseHex(bytes).toString('latin1')).join('');
  const responses = sent.split(/(?=HTTP\/1\.1 )/).filter((response) => response.startsWith('HTTP/1.1 200 '));
  return responses.flatMap((response) => /x-request-id: (\d+)/i.exec(response)?.[1] ?? []).map(BigInt);
}
