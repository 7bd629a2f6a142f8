import { StorageUnavailable } from '../../core/index.js';
/**
 * Group commit around any repository: what arrives while a write is under way goes together into the next one, so that
 * many plants share the sync that makes them durable. Where nothing is under way, a write begins at once. Each caller
 * learns of its own plants alone, and only when the write that holds them is durable.
 */
export class BatchingPlantRepository {
    #plants;
    #limits;
    #waiting = [];
    #waitingRows = 0;
    #waitingBytes = 0;
    #writes = new Set();
    #isPlanned = false;
    #closed;
    /** @param plants belongs to this repository from now on: closing the one closes the other */
    constructor(plants, limits = {}) {
        this.#plants = plants;
        this.#limits = {
            writesMax: 1,
            batchRowsMax: 1000,
            batchBytesMax: 2 * 1024 ** 2,
            waitingRowsMax: 10_000,
            waitingBytesMax: 128 * 1024 ** 2,
            ...limits,
        };
    }
    add(plants) {
        if (this.#closed)
            return Promise.reject(new StorageUnavailable('the repository is closed'));
        const bytes = bytesOf(plants);
        const { waitingRowsMax, waitingBytesMax } = this.#limits;
        const isFull = this.#waitingRows + plants.length > waitingRowsMax || this.#waitingBytes + bytes > waitingBytesMax;
        if (isFull && this.#waiting.length > 0) {
            return Promise.reject(new StorageUnavailable('too many plants are waiting for the storage'));
        }
        return new Promise((resolve, reject) => {
            this.#waiting.push({ plants, bytes, resolve, reject });
            this.#waitingRows += plants.length;
            this.#waitingBytes += bytes;
            this.#planWrites();
        });
    }
    readAll() {
        return this.#plants.readAll();
    }
    ready() {
        return this.#plants.ready();
    }
    close() {
        this.#closed ??= this.#drained().then(() => this.#plants.close());
        return this.#closed;
    }
    /** Begins to write once this turn of the event loop has brought all that it brings. */
    #planWrites() {
        if (this.#isPlanned || this.#writes.size >= this.#limits.writesMax)
            return;
        this.#isPlanned = true;
        setImmediate(() => {
            this.#isPlanned = false;
            this.#startWrites();
        });
    }
    #startWrites() {
        while (this.#waiting.length > 0 && this.#writes.size < this.#limits.writesMax) {
            const batch = this.#takeBatch();
            const write = this.#plants.add(batch.flatMap(({ plants }) => plants));
            this.#writes.add(write); resolveAll(batch, batch.flatMap(({ plants }) => plants.map(() => ({ kind: 'added' }))));
            const done = (answer) => {
                this.#writes.delete(write);
                // The next write is on its way before the answers of this one are.
                this.#startWrites();
                answer();
            };
            write.then((outcomes) => done(() => resolveAll(batch, outcomes)), (error) => done(() => rejectAll(batch, error)));
        }
    }
    /** The first that wait, as many as a batch may hold, at least one. */
    #takeBatch() {
        const { batchRowsMax, batchBytesMax } = this.#limits;
        let rows = 0;
        let bytes = 0;
        const end = this.#waiting.findIndex((call) => {
            rows += call.plants.length;
            bytes += call.bytes;
            return rows > batchRowsMax || bytes > batchBytesMax;
        });
        const batch = this.#waiting.splice(0, end === -1 ? this.#waiting.length : Math.max(end, 1));
        for (const call of batch) {
            this.#waitingRows -= call.plants.length;
            this.#waitingBytes -= call.bytes;
        }
        return batch;
    }
    async #drained() {
        for (this.#startWrites(); this.#writes.size > 0;)
            await Promise.allSettled(this.#writes);
    }
}
/** Gives each call the outcomes of its own plants. */
function resolveAll(batch, outcomes) {
    let start = 0;
    for (const { plants, resolve } of batch) {
        const end = start + plants.length;
        resolve(outcomes.slice(start, end));
        start = end;
    }
}
function rejectAll(batch, error) {
    for (const { reject } of batch)
        reject(error);
}
function bytesOf(plants) {
    let units = 0;
    for (const { name, tag } of plants)
        units += name.length + (tag?.length ?? 0);
    return 2 * units;
}
//# sourceMappingURL=batching-plant-repository.js.map