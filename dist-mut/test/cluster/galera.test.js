import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { mysqlDatabase, openRepository } from '../../adapters/knex/index.js';
import { Plant } from '../../core/index.js';
import { RawClient } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';
import { create, creating, outcomeOf, serve } from '../system/client.js';
import { GaleraCluster, needsGalera, until } from './galera-cluster.js';
describe('Three services, each at another node of a Galera cluster', () => {
    let cluster;
    // Before the folder is removed.
    after(() => cluster?.stop());
    const folder = temporaryFolder();
    let nodes;
    const services = new Set();
    before(async function () {
        needsGalera(this);
        cluster = await GaleraCluster.in(folder);
        await cluster.start();
        nodes = cluster.nodes;
    });
    afterEach(async () => {
        await Promise.all([...services].map((service) => service.killGroup('SIGKILL').exited()));
        services.clear();
    });
    /** Starts a service at each of `at`, at the same moment; resolves to their ports when all listen. */
    function servicesAt(at, database) {
        return Promise.all(at.map((node) => {
            const service = serve(folder, { DATABASE_URL: node.url(database) });
            services.add(service);
            return service.port();
        }));
    }
    /** The repository that a service at `node` would have. */
    function open(node, database) {
        return openRepository(mysqlDatabase({ url: node.url(database), timeoutMs: 10_000 }));
    }
    async function emptyDatabase(name) {
        await nodes[0].sql.raw(`CREATE DATABASE ${name}`);
        return name;
    }
    it('all come up when they are started at the same moment on an empty cluster', async () => {
        for (let round = 1; round <= 3; round++) {
            const database = await emptyDatabase(`together_${round}`);
            const ports = await servicesAt(nodes, database);
            const outcomes = await Promise.all(ports.map((port, id) => create(port, { id: BigInt(id), name: 'Monstera' })));
            expect(outcomes.map(outcomeOf)).to.deep.equal([200, 200, 200]);
            for (const node of nodes)
                expect(await plantsAt(node, database)).to.have.property('size', 3);
            expect(await nodes[0].sql(`${database}.plant_store_migrations`).distinct('name').pluck('name')).to.deep.equal([
                '001_plants',
            ]);
            for (const service of services)
                expect(await service.kill('SIGTERM').exited()).to.equal(0);
            services.clear();
        }
    });
    it('however close their first statements are, fifty times', async () => {
        for (let round = 1; round <= 50; round++) {
            const database = await emptyDatabase(`close_${round}`);
            const instances = await Promise.all(nodes.map((node) => open(node, database)));
            await Promise.all(instances.map((plants) => plants.close()));
        }
    });
    it('a retry finds the same plant at whichever node it comes in, and another plant is told apart', async () => {
        const ports = await servicesAt(nodes, await emptyDatabase('retries'));
        for (let id = 0n; id < 60n; id++) {
            const [first = 0, ...others] = [...ports, ...ports].slice(Number(id % 3n), Number(id % 3n) + 3);
            expect(outcomeOf(await create(first, { id, name: 'Monstera' }))).to.equal(200);
            const retries = others.flatMap((port) => [
                create(port, { id, name: 'Monstera' }),
                create(port, { id, name: 'Ficus' }),
            ]);
            expect((await Promise.all(retries)).map(outcomeOf)).to.deep.equal([40902, 40901, 40902, 40901]);
        }
    });
    it('who reads at one node finds every plant that another has answered, however far the node is behind', async () => {
        const database = await emptyDatabase('reading');
        const [near, far] = [await open(nodes[0], database), await open(nodes[1], database)];
        try {
            await far.ready();
            // A node under this lock takes nothing over from the others.
            const lock = await nodes[1].sql.transaction();
            await lock.raw('SET SESSION wsrep_sync_wait = 0');
            await lock.raw('FLUSH TABLES WITH READ LOCK');
            const plant = Plant.from({ id: 1n, name: 'Monstera' });
            if (!(plant instanceof Plant))
                throw new TypeError('it is a plant');
            expect((await near.add([plant])).map(({ kind }) => kind)).to.deep.equal(['added']);
            const reading = far.readAll()[Symbol.asyncIterator]().next();
            let isRead = false;
            reading.finally(() => {
                isRead = true;
            });
            await until('the read waits, or has ended', async () => {
                const [rows] = await lock.raw('SHOW FULL PROCESSLIST');
                return isRead || rows.some(({ Info }) => Info?.includes('from `plants`'));
            });
            await lock.raw('UNLOCK TABLES');
            await lock.raw('SET SESSION wsrep_sync_wait = 1');
            await lock.rollback();
            expect((await reading).value).to.deep.equal([plant]);
        }
        finally {
            await Promise.all([near.close(), far.close()]);
        }
    });
    it('of many clients that want the same ids at once, each id goes to one; the others are told so', async () => {
        const database = await emptyDatabase('conflicts');
        const ports = await servicesAt(nodes, database);
        const before = await conflictsAt(nodes);
        const run = new Run();
        for (let end = 10n; end <= 500n; end += 10n) {
            await Promise.all(ports.flatMap((port, service) => run.clients(10, port, service, (id) => id < end)));
        }
        expect(run.outcomes(0, 1, 2), 'no client saw a conflict of the nodes').to.have.members([200, 40901]);
        expect(run.answered.size).to.equal(500);
        await run.check(nodes, database);
        const conflicts = (await conflictsAt(nodes)) - before;
        console.log(`      ${run.summary()}, ${conflicts} conflicts of the nodes`);
        expect(conflicts, 'conflicts of the nodes').to.be.above(0);
    });
    it('when a node is killed in the middle, no answered plant is lost and no id is given twice', async () => {
        const database = await emptyDatabase('killed');
        const ports = await servicesAt(nodes, database);
        const [, , victim] = nodes;
        const survivors = [nodes[0], nodes[1]];
        const run = new Run();
        let killed;
        let enough = Number.POSITIVE_INFINITY;
        run.onAnswered = (count) => {
            if (count !== 500)
                return;
            // What the others answer while they notice, and as much again afterwards.
            killed = victim
                .kill()
                .then(() => Promise.all(survivors.map((node) => node.synced(2))))
                .finally(() => {
                enough = run.answered.size + 500;
            });
        };
        await Promise.all(ports.flatMap((port, service) => run.clients(8, port, service, () => run.answered.size < enough)));
        await killed;
        expect(run.outcomes(0, 1), 'at the nodes that live').to.have.members([200, 40901]);
        expect(run.outcomes(2), 'at the node that was killed').to.include(50301);
        expect([200, 40901, 50301, undefined], 'at the node that was killed').to.include.members(run.outcomes(2));
        await run.check(survivors, database);
        console.log(`      ${run.summary()}`);
    });
    it('a node that has lost the others answers 503, and gives no id away', async () => {
        const database = await emptyDatabase('alone');
        const [last, victim] = nodes;
        const [port = 0] = await servicesAt([last], database);
        expect(outcomeOf(await create(port, { id: 1n, name: 'Monstera' }))).to.equal(200);
        await victim.kill();
        expect(outcomeOf(await create(port, { id: 2n, name: 'Monstera' })), 'while it has not noticed').to.equal(50301);
        await until('it has noticed', async () => (await last.status('cluster_status')) === 'non-Primary');
        expect(outcomeOf(await create(port, { id: 2n, name: 'Monstera' })), 'afterwards').to.equal(50301);
        expect(outcomeOf(await create(port, { id: 1n, name: 'Monstera' })), 'a retry').to.equal(50301);
    });
});
/** Creates by many clients who all want the same ids, and what became of them. */
class Run {
    /** The plants that were answered with 200. */
    answered = new Map();
    doubled = 0;
    lost = 0;
    onAnswered = () => { };
    #sent = new Set();
    #next = new Map();
    #outcomes = new Map();
    /** Clients of the service `service`, which create the next id again and again as long as it is `wanted`. */
    clients(count, port, service, wanted) {
        return Array.from({ length: count }, async () => {
            const client = await RawClient.connect(port);
            for (;;) {
                const id = this.#next.get(service) ?? 0n;
                if (!wanted(id))
                    break;
                this.#next.set(service, id + 1n);
                const plant = { id: id % 2n === 0n ? id : -id, name: `Ōhiʻa ${id} of service ${service} \u{1F33A}`, tag: '' };
                this.#sent.add(JSON.stringify(texts(plant)));
                const outcome = outcomeOf(await client.send(creating(plant)).answer());
                const outcomes = this.#outcomes.get(service) ?? new Map();
                this.#outcomes.set(service, outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1));
                if (outcome === 200) {
                    if (this.answered.has(plant.id))
                        this.doubled++;
                    this.answered.set(plant.id, plant);
                    this.onAnswered(this.answered.size);
                }
                else if (outcome !== 40901)
                    break;
            }
            client.close();
        });
    }
    /** Which outcomes came from these services. */
    outcomes(...services) {
        return [...new Set(services.flatMap((service) => [...(this.#outcomes.get(service)?.keys() ?? [])]))];
    }
    /** Compares what was answered with what each of `nodes` has. */
    async check(nodes, database) {
        const stores = await Promise.all(nodes.map((node) => plantsAt(node, database)));
        for (const store of stores) {
            for (const [id, plant] of this.answered)
                if (store.get(id) !== JSON.stringify(texts(plant)))
                    this.lost++;
            for (const stored of store.values())
                expect(this.#sent, 'what was sent').to.include(stored);
            expect(store, 'all nodes have the same').to.deep.equal(stores[0]);
        }
        expect({ lost: this.lost, doubled: this.doubled }).to.deep.equal({ lost: 0, doubled: 0 });
    }
    summary() {
        const outcomes = [...this.#outcomes].map(([service, counts]) => {
            const texts = [...counts].map(([outcome, count]) => `${outcome ?? 'no answer'} ${count} times`);
            return `service ${service + 1}: ${texts.join(', ')}`;
        });
        return `answered ${this.answered.size}, lost ${this.lost}, doubled ${this.doubled} (${outcomes.join('; ')})`;
    }
}
/** A plant as {@link plantsAt} has it. */
function texts({ id, name, tag }) {
    return [`${id}`, name, tag ?? null];
}
/** The plants of a database as one node has them: their texts as JSON, by id. */
async function plantsAt(node, database) {
    const rows = await node
        .sql(`${database}.plants`)
        .select(node.sql.raw('CAST(id AS CHAR) AS id'), 'name', 'tag')
        .orderByRaw('plants.id');
    return new Map(rows.map(({ id, name, tag }) => [BigInt(id), JSON.stringify([id, name, tag])]));
}
/** How often nodes have found, so far, that two of them wanted the same. */
async function conflictsAt(nodes) {
    const names = ['local_cert_failures', 'local_bf_aborts'];
    const counts = await Promise.all(nodes.flatMap((node) => names.map((name) => node.status(name))));
    return counts.reduce((sum, count) => sum + Number(count), 0);
}
//# sourceMappingURL=galera.test.js.map