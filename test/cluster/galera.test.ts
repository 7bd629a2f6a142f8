import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { mysqlDatabase, openRepository } from '../../adapters/knex/index.js';
import type { PlantRepository } from '../../core/index.js';
import { create, serve, type TestPlant, toOutcome } from '../support/client.js';
import type { Executable } from '../support/executable.js';
import { toPlant } from '../support/plants.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { slowSyncs } from '../support/slow-syncs.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';
import { conclusive } from '../system/history.js';
import { CLIENTS, Load } from '../system/load.js';
import { GaleraCluster, type GaleraNode, skipUnlessGaleraInstalled } from './galera-cluster.js';

/** Delay of each sync in the test with slow syncs. */
const SYNC_MS = 4000;

describe('Three services, each on its own node of a Galera cluster', () => {
  let cluster: GaleraCluster | undefined;
  // Registered first, so that it runs before the folder is removed.
  after(() => cluster?.stop());
  const folder = temporaryFolder();
  let nodes: GaleraCluster['nodes'];
  const services = new Set<Executable>();

  before(async function () {
    skipUnlessGaleraInstalled(this);
    cluster = GaleraCluster.in(folder);
    await cluster.start();
    nodes = cluster.nodes;
  });
  afterEach(async () => {
    await Promise.all([...services].map((service) => service.killGroup('SIGKILL').exited()));
    services.clear();
  });

  /** Starts a service on each of `targets` concurrently; returns their ports once all listen. */
  function startServices(targets: readonly GaleraNode[], database: string): Promise<number[]> {
    return Promise.all(
      targets.map((node) => {
        const service = serve(folder, { DATABASE_URL: node.url(database) });
        services.add(service);
        return service.port();
      }),
    );
  }

  /** Opens the repository of a service on `node`. */
  function open(node: GaleraNode, database: string): Promise<PlantRepository> {
    return openRepository(mysqlDatabase({ url: node.url(database), timeoutMs: 60_000 }));
  }

  /** Creates a database and waits until each of `targets` has it. */
  async function createDatabase(name: string, targets: readonly GaleraNode[] = nodes): Promise<string> {
    await nodes[0].sql.raw(`CREATE DATABASE ${name}`);
    // A query waits until its node has applied what the others committed; connecting to a database does not.
    for (const node of targets) await node.sql('information_schema.schemata').select();
    return name;
  }

  it('start concurrently on an empty database', async () => {
    for (let round = 1; round <= 3; round++) {
      const database = await createDatabase(`concurrent_start_${round}`);
      const ports = await startServices(nodes, database);
      const outcomes = await Promise.all(ports.map((port, id) => create(port, { id: BigInt(id), name: 'Monstera' })));
      expect(outcomes.map(toOutcome)).to.deep.equal([200, 200, 200]);
      for (const node of nodes) expect(await readPlantsOn(node, database)).to.have.length(3);
      expect(await nodes[0].sql(`${database}.plant_store_migrations`).distinct('name').pluck('name')).to.deep.equal([
        '001_plants',
        '002_log_syncs',
      ]);
      for (const service of services) expect(await service.kill('SIGTERM').exited()).to.equal(0);
      services.clear();
    }
  });

  it('migrate an empty database concurrently, fifty times', async () => {
    for (let round = 1; round <= 50; round++) {
      const database = await createDatabase(`concurrent_migration_${round}`);
      const repositories = await Promise.all(nodes.map((node) => open(node, database)));
      await Promise.all(repositories.map((repository) => repository.close()));
    }
  });

  it('report a duplicate on the same node without a write, and only after the node has synced the plant', async function () {
    skipUnlessInstalled(this, 'strace', '-o', '/dev/null', 'true');
    const database = await createDatabase('duplicates');
    const repositories = await Promise.all([open(nodes[0], database), open(nodes[0], database)]);
    const plant = toPlant({ id: 1n, name: 'Monstera' });
    const strace = await slowSyncs(folder, [nodes[0].pid], SYNC_MS);
    try {
      const reports = await Promise.all(
        repositories.map(async (repository) => {
          const [outcome] = await repository.add([plant]);
          return { kind: outcome?.kind, at: performance.now() };
        }),
      );
      const at = (kind: string) => reports.find((report) => report.kind === kind)?.at ?? Number.NaN;
      expect(at('taken') - at('added'), 'ms').to.be.above(-SYNC_MS / 2);

      // Creates the only row of plant_store_log_syncs, if it does not exist yet.
      await repositories[0].add([plant]);
      const start = performance.now();
      expect(await repositories[0].add([plant])).to.deep.equal([{ kind: 'taken', holder: plant }]);
      expect(performance.now() - start, 'ms').to.be.below(SYNC_MS / 2);
    } finally {
      await strace.kill('SIGKILL').exited();
      await Promise.all(repositories.map((repository) => repository.close()));
    }
  });

  it('return 40902 to a retry and 40901 to a conflicting plant on every node', async () => {
    const ports = await startServices(nodes, await createDatabase('retries'));
    for (let id = 0n; id < 60n; id++) {
      const [first = 0, ...others] = [...ports, ...ports].slice(Number(id % 3n), Number(id % 3n) + 3);
      expect(toOutcome(await create(first, { id, name: 'Monstera' }))).to.equal(200);
      const retries = others.flatMap((port) => [
        create(port, { id, name: 'Monstera' }),
        create(port, { id, name: 'Ficus' }),
      ]);
      expect((await Promise.all(retries)).map(toOutcome)).to.deep.equal([40902, 40901, 40902, 40901]);
    }
  });

  it('read on a lagging node every plant acknowledged on another', async () => {
    const database = await createDatabase('reading');
    const [near, far] = [await open(nodes[0], database), await open(nodes[1], database)];
    try {
      await far.ready();
      // Under this lock, a node applies no writes of the others.
      const lock = await nodes[1].sql.transaction();
      await lock.raw('SET SESSION wsrep_sync_wait = 0');
      await lock.raw('FLUSH TABLES WITH READ LOCK');
      const plant = toPlant({ id: 1n, name: 'Monstera' });
      expect((await near.add([plant])).map(({ kind }) => kind)).to.deep.equal(['added']);
      const reading = far.readAll()[Symbol.asyncIterator]().next();
      let isRead = false;
      reading.finally(() => {
        isRead = true;
      });
      await waitUntil('the read waits or has ended', async () => {
        const [rows] = await lock.raw('SHOW FULL PROCESSLIST');
        return isRead || rows.some(({ Info }: { Info: string | null }) => Info?.includes('from `plants`'));
      });
      await lock.raw('UNLOCK TABLES');
      await lock.raw('SET SESSION wsrep_sync_wait = 1');
      await lock.rollback();
      expect((await reading).value).to.deep.equal([plant]);
    } finally {
      await Promise.all([near.close(), far.close()]);
    }
  });

  it('store each id once when many clients contend for it, and return 40901 to the others', async () => {
    const database = await createDatabase('conflicts');
    const ports = await startServices(nodes, database);
    const before = await countConflicts(nodes);
    const load = new Load(contendedPlant);
    load.start(...ports);
    await waitUntil('nodes conflict', async () => (await countConflicts(nodes)) > before);
    await load.waitForOutcomes(500, 200);
    await load.stop();
    expect(load.outcomes(), 'no conflict between nodes reaches a client').to.have.members([200, 40901]);
    await expectNoViolations(load, nodes, database);
  });

  it('return 503 on an isolated node, which catches up when the network is restored', async () => {
    const { database, ports, load } = await startLoad('partitioned');
    cluster?.network.isolate(2);
    await waitUntil(
      'the others form a cluster of two',
      async () => (await nodes[0].readStatus('cluster_size')) === '2',
    );
    await load.waitForOutcomes(500, 200);
    await waitUntilIsolated(nodes[2]);
    await load.waitForOutcomes(CLIENTS, 50301);
    expect(load.outcomes(ports[2])).to.include(50301);
    cluster?.network.restore();
    await cluster?.waitUntilSynced();
    await load.waitForOutcomes(500, 200);
    await load.stop();
    expect([...conclusive, 50301]).to.include.members(load.outcomes());
    await load.retryUnknown(ports[2]);
    await expectNoViolations(load, nodes, database);
  });

  it('return 503 while every node is isolated, and recover when the network is restored', async () => {
    const { database, ports, load } = await startLoad('scattered');
    for (const host of [0, 1, 2]) cluster?.network.isolate(host);
    await Promise.all(nodes.map(waitUntilIsolated));
    await load.waitForOutcomes(CLIENTS, 50301);
    cluster?.network.restore();
    await cluster?.waitUntilSynced();
    await load.waitForOutcomes(500, 200);
    await load.stop();
    for (const port of ports) expect(load.outcomes(port)).to.include(50301);
    expect([...conclusive, 50301]).to.include.members(load.outcomes());
    await load.retryUnknown(ports[0]);
    await expectNoViolations(load, nodes, database);
  });

  it('lose nothing when all nodes are killed simultaneously and recovered', async () => {
    const { database, ports, load } = await startLoad('recovered');
    await Promise.all(nodes.map((node) => node.kill()));
    await load.waitForOutcomes(CLIENTS, 50301);
    await cluster?.recover();
    await load.waitForOutcomes(500, 200);
    await load.stop();
    await load.retryUnknown(ports[0]);
    await expectNoViolations(load, nodes, database);
  });

  it('lose no acknowledged plant and store no id twice when a node is killed under load', async () => {
    const { database, ports, load } = await startLoad('killed');
    const survivors = [nodes[0], nodes[1]];
    await nodes[2].kill();
    await Promise.all(survivors.map((node) => node.waitUntilSynced(2)));
    await load.waitForOutcomes(500, 200);
    await load.stop();
    expect(load.outcomes(ports[0], ports[1]), 'on the surviving nodes').to.have.members([200, 40901]);
    expect(load.outcomes(ports[2]), 'on the killed node').to.include(50301);
    await load.retryUnknown(ports[0]);
    await expectNoViolations(load, survivors, database);
  });

  it('return 503 on a node that has lost the others, and acknowledge nothing', async () => {
    const database = await createDatabase('alone', [nodes[0], nodes[1]]);
    const [last, victim] = nodes;
    const [port = 0] = await startServices([last], database);
    expect(toOutcome(await create(port, { id: 1n, name: 'Monstera' }))).to.equal(200);
    await victim.kill();
    expect(toOutcome(await create(port, { id: 2n, name: 'Monstera' })), 'before the node notices').to.equal(50301);
    await waitUntilIsolated(last);
    expect(toOutcome(await create(port, { id: 2n, name: 'Monstera' })), 'afterwards').to.equal(50301);
    expect(toOutcome(await create(port, { id: 1n, name: 'Monstera' })), 'a retry').to.equal(50301);
  });

  /** Starts a service on each node of a new database, and a load that has created plants. */
  async function startLoad(
    name: string,
  ): Promise<{ readonly database: string; readonly ports: readonly [number, number, number]; readonly load: Load }> {
    const database = await createDatabase(name);
    const [first = 0, second = 0, third = 0] = await startServices(nodes, database);
    const ports = [first, second, third] as const;
    const load = new Load(contendedPlant);
    load.start(...ports);
    await load.waitForOutcomes(500, 200);
    return { database, ports, load };
  }

  function waitUntilIsolated(node: GaleraNode): Promise<void> {
    return waitUntil(
      `${node.name} is isolated`,
      async () => (await node.readStatus('cluster_status')) === 'non-Primary',
    );
  }
});

/** Returns the plant with a given index, such that the clients of the three services contend for the same ids. */
function contendedPlant(index: number): TestPlant {
  const [clients, services] = [Math.floor(CLIENTS / 3), 3];
  const id = clients * Math.floor(index / (clients * services)) + (index % clients);
  return { id: BigInt(id % 2 === 0 ? id : -id), name: `Ōhiʻa ${id}, variant of ${index} \u{1F33A}`, tag: '' };
}

/** Expects every node to have the same plants, consistent with the history. */
async function expectNoViolations(load: Load, nodes: readonly GaleraNode[], database: string): Promise<void> {
  const stores = await Promise.all(nodes.map((node) => readPlantsOn(node, database)));
  for (const store of stores) {
    load.expectNoViolations(store);
    expect(isDeepStrictEqual(store, stores[0]), 'all nodes have the same plants').to.equal(true);
  }
}

/** Reads the plants of a database on one node. */
async function readPlantsOn(node: GaleraNode, database: string): Promise<TestPlant[]> {
  const rows: { id: string; name: string; tag: string | null }[] = await node
    .sql(`${database}.plants`)
    .select(node.sql.raw('CAST(id AS CHAR) AS id'), 'name', 'tag')
    .orderByRaw('plants.id');
  return rows.map(({ id, name, tag }) => ({ id: BigInt(id), name, ...(tag === null ? {} : { tag }) }));
}

/** Returns the number of write conflicts between nodes so far. */
async function countConflicts(nodes: readonly GaleraNode[]): Promise<number> {
  const names = ['local_cert_failures', 'local_bf_aborts'];
  const counts = await Promise.all(nodes.flatMap((node) => names.map((name) => node.readStatus(name))));
  return counts.reduce((sum, count) => sum + Number(count), 0);
}
