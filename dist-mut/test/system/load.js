import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { RawClient } from '../support/raw-http.js';
import { create, creating, outcomeOf } from './client.js';
/** How many clients create plants at once. */
export const CLIENTS = 64;
/** How long a client waits after it was refused, in milliseconds. */
const RETRY_AFTER_MS = 20;
/** How many plants are sent again at once. */
const RETRIES_AT_ONCE = 500;
/** Clients that create plants, each one after the other, and what they know of them, over any number of services. */
export class Load {
    #makePlant;
    #events = new EventEmitter();
    /** Every plant that was sent, by its id. */
    sent = new Map();
    /** Everything that was answered, in that order. */
    created = [];
    /** Plants of which nobody knows whether they are stored: their create was answered with 503, or not at all. */
    unknown = new Set();
    #sending = Promise.resolve();
    #isStopped = false;
    /** @param makePlant the plant number `index`, with an id of its own */
    constructor(makePlant = somePlant) {
        this.#makePlant = makePlant;
        this.#events.setMaxListeners(0);
    }
    /** Has clients send until they are stopped or the service ends their connections. */
    start(port) {
        this.#isStopped = false;
        this.#sending = Promise.all(Array.from({ length: CLIENTS }, () => this.#send(port)));
    }
    /** Resolves when every client has stopped because the service ended its connection. */
    async ended() {
        await this.#sending;
    }
    /** Lets every client wait for its answer, and no longer. */
    async stop() {
        this.#isStopped = true;
        await this.#sending;
    }
    /** Resolves when `count` more creates have had the outcome. */
    async more(count, outcome) {
        for (let seen = 0; seen < count;) {
            const [created] = await once(this.#events, 'created');
            if (created?.outcome === outcome)
                seen++;
        }
    }
    /** How many creates had each outcome. */
    outcomes() {
        const counts = new Map();
        for (const { outcome } of this.created)
            counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
        return counts;
    }
    /** Sends every plant again of which nobody knows whether it is stored; from then on it is, and as it was sent. */
    async retryUnknown(port) {
        const plants = [...this.unknown];
        while (plants.length > 0) {
            const outcomes = await Promise.all(plants.splice(0, RETRIES_AT_ONCE).map(async (plant) => {
                const outcome = outcomeOf(await create(port, plant));
                this.unknown.delete(plant);
                return outcome;
            }));
            expect([200, 40902], 'of plants that are sent again').to.include.members([...new Set(outcomes)]);
        }
    }
    /** Checks that every plant that a client knows to be stored is in the store, exactly, and nothing that nobody sent. */
    async expectNothingLost(store) {
        const stored = new Map((await store.plants()).map((plant) => [plant.id, plant]));
        const known = [...this.sent.values()].filter((plant) => !this.unknown.has(plant));
        expect(known.filter(({ id }) => !stored.has(id)), `lost, of ${known.length}`).to.deep.equal([]);
        for (const [id, plant] of stored) {
            const original = this.sent.get(id);
            // Chai takes its time; most plants are equal.
            if (plant.name !== original?.name || plant.tag !== original?.tag)
                expect(plant).to.deep.equal(original);
        }
    }
    async #send(port) {
        const client = await RawClient.connect(port).catch(() => undefined);
        while (client && !this.#isStopped) {
            const plant = this.#makePlant(this.sent.size);
            this.sent.set(plant.id, plant);
            this.unknown.add(plant);
            const sentAt = performance.now();
            const outcome = outcomeOf(await client.send(creating(plant)).answer());
            if (outcome === undefined)
                return;
            const created = { plant, outcome, sentAt, answeredAt: performance.now() };
            this.created.push(created);
            if (outcome === 200)
                this.unknown.delete(plant);
            this.#events.emit('created', created);
            if (outcome !== 200)
                await setTimeout(RETRY_AFTER_MS);
        }
        client?.close();
    }
}
/** The plant number `index` of a run: ids from both ends of int64 and around zero, texts that are easily damaged. */
export function somePlant(index) {
    const step = BigInt(index);
    const ids = [-(2n ** 63n) + step, 2n ** 63n - 1n - step, 2n ** 53n + step, -step];
    const id = ids[index % ids.length] ?? step;
    const plant = { id, name: `Ōhiʻa ${index} "lehua" \u{1F33A}\t e\u0301 ${'x'.repeat(index % 300)} ` };
    return index % 2 === 0 ? plant : { ...plant, tag: '' };
}
//# sourceMappingURL=load.js.map