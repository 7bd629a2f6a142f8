import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteStore } from './stores.js';
import { isBefore, systemCalls } from './system-calls.js';
/** What runs a program so that {@link lossesInPowerCuts} can read what it did; the program comes behind it. */
export function tracing(trace) {
    const names = 'pwrite64,ftruncate,fsync,fdatasync,write,writev,sendto,sendmsg';
    const whole = ['-xx', '-s', '10000000'];
    return ['strace', '-f', '-y', ...whole, '-e', 'signal=none', '-e', `trace=${names}`, '-o', trace];
}
/**
 * Cuts the power at moments at which an answer began to be sent: has a disk that keeps what was synced by then, and of
 * everything else nothing, or some, or parts, and opens the database that is on it.
 *
 * @param traceFile what {@link tracing} wrote; an answer tells the id of its plant in X-Request-Id
 * @param database the SQLite file, as the program knows it
 * @param folder where the files may be made that a cut leaves
 */
export async function lossesInPowerCuts(traceFile, database, plants, folder, random, cuts) {
    const calls = systemCalls(readFileSync(traceFile, 'latin1')).filter(({ result }) => result >= 0);
    const answers = calls.flatMap((call) => idsAnsweredBy(call).map((id) => ({ id, call })));
    const path = join(folder, 'cut.db');
    const disk = new Disk(calls, [
        [database, path],
        [`${database}-wal`, `${path}-wal`],
    ]);
    const total = { lost: 0, invented: 0, damages: new Set() };
    const chosen = answers.map((_, index) => index).filter((index) => random() < cuts / (answers.length - index));
    // The last one is always looked at: nothing comes after it that could have saved it.
    for (const index of new Set([...chosen, answers.length - 1])) {
        const answer = answers[index];
        if (answer === undefined)
            throw new Error(`there is no answer in ${traceFile}`);
        disk.goOnUntil(answer.call);
        for (const keeps of ['nothing', 'something']) {
            disk.cutPower(keeps === 'nothing' ? () => 0 : random);
            const store = sqliteStore(path);
            // A file that is no database any more cannot even be looked at.
            for (const damage of await store.damages().catch((error) => [`${error}`]))
                total.damages.add(damage);
            const stored = await storedIn(store);
            const answered = answers.slice(0, index + 1).map(({ id }) => id);
            total.lost += answered.filter((id) => stored.get(id) !== plants.get(id)?.name).length;
            total.invented += [...stored].filter(([id, name]) => plants.get(id)?.name !== name).length;
        }
    }
    return { ...total, damages: [...total.damages], cuts: chosen.length, checkpoints: disk.checkpoints };
}
/** The names by their ids; nothing where there is not even a table. */
async function storedIn(store) {
    try {
        return new Map((await store.plants()).map(({ id, name }) => [id, name]));
    }
    catch {
        return new Map();
    }
}
/** Files as a program changed them, of which only what was synced is sure to be there after a power cut. */
class Disk {
    #changes;
    #synced;
    #copies;
    #unsynced = [];
    checkpoints = 0;
    /** @param copies the files, and where {@link cutPower} makes what is left of each */
    constructor(calls, copies) {
        this.#copies = copies;
        this.#synced = new Map(copies.map(([path]) => [path, Buffer.alloc(0)]));
        const changes = calls.flatMap((call) => changeOf(call) ?? []);
        this.#changes = changes
            .filter(({ path }) => this.#synced.has(path))
            .sort((one, other) => one.call.ended - other.call.ended);
    }
    /** Goes on through what the program did, up to the beginning of `call`. */
    goOnUntil(call) {
        for (let [next] = this.#changes; next && isBefore(next.call, call); [next] = this.#changes) {
            this.#changes.shift();
            if (next.act === 'sync')
                this.#sync(next);
            else
                this.#unsynced.push(next);
        }
    }
    /** Makes the files as they are when the power fails; `keep` says how much of each change that was not synced is there. */
    cutPower(keep) {
        const files = new Map(this.#synced);
        for (const change of this.#unsynced) {
            const kept = keep();
            // A third is there, a third is not, and a third in part: a disk writes sectors of 512 bytes.
            const length = Math.floor((change.bytes.length * Math.min(1, Math.max(0, kept * 3 - 1))) / 512) * 512;
            const bytes = kept > 2 / 3 ? change.bytes : change.bytes.subarray(0, length);
            if (bytes.length > 0 || (change.act === 'truncate' && kept > 1 / 2)) {
                files.set(change.path, applied({ ...change, bytes }, files.get(change.path)));
            }
        }
        for (const [path, copy] of this.#copies)
            writeFileSync(copy, files.get(path) ?? '');
    }
    #sync({ path, call }) {
        const isSynced = (change) => change.path === path && isBefore(change.call, call);
        const synced = this.#unsynced.filter(isSynced);
        if (synced.length === 0)
            return;
        this.#unsynced = this.#unsynced.filter((change) => !isSynced(change));
        this.#synced.set(path, synced.reduce((file, change) => applied(change, file), this.#synced.get(path) ?? Buffer.alloc(0)));
        if (path === this.#copies[0]?.[0])
            this.checkpoints++;
    }
}
function applied({ act, bytes, at }, file = Buffer.alloc(0)) {
    const length = act === 'truncate' ? at : Math.max(file.length, at + bytes.length);
    const changed = Buffer.alloc(length);
    file.copy(changed);
    bytes.copy(changed, at);
    return changed;
}
/** `fd<path>, "bytes", count, offset`, with each byte of paths and of what is written as `\xNN`. */
const ARGUMENTS = /^\d+<([^>]*)>(?:, "([^"]*)")?(?:, (\d+))?(?:, (\d+))?$/;
function changeOf({ name, args, ...call }) {
    const act = ACTS[name];
    const [, path, bytes = '', first, second] = ARGUMENTS.exec(args) ?? [];
    if (act === undefined || path === undefined)
        return undefined;
    return {
        call: { name, args: '', ...call },
        path: bytesOf(path).toString(),
        act,
        bytes: bytesOf(bytes),
        at: Number(act === 'write' ? second : (first ?? 0)),
    };
}
const ACTS = {
    pwrite64: 'write',
    ftruncate: 'truncate',
    fsync: 'sync',
    fdatasync: 'sync',
};
function bytesOf(text) {
    return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}
function idsAnsweredBy({ name, args }) {
    if (!/^(write|writev|sendto|sendmsg)$/.test(name))
        return [];
    const sent = [...args.matchAll(/"([^"]*)"/g)].map(([, bytes = '']) => bytesOf(bytes).toString('latin1')).join('');
    const answers = sent.split(/(?=HTTP\/1\.1 )/).filter((answer) => answer.startsWith('HTTP/1.1 200 '));
    return answers.flatMap((answer) => /x-request-id: (\d+)/i.exec(answer)?.[1] ?? []).map(BigInt);
}
//# sourceMappingURL=power-cut.js.map