import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { mysqlDatabase, openRepository } from '../../adapters/driven/knex/index.js';
import type { PlantStorage } from '../../core/index.js';
import { create, serve, type TestPlant } from '../support/client.js';
import { readTable } from '../support/engines.js';
import { toPlant } from '../support/plants.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';
import { conclusive } from '../system/history.js';
import { CLIENTS, Load } from '../system/load.js';
import { slowSyncs } from '../system/system-calls.js';
import { type GaleraCluster, type GaleraNode, skipUnlessGaleraInstalled, startCluster } from './galera-cluster.js';
import { createNetwork, isolate, removeNetwork, restoreNetwork } from './network.js';

/** Delay of each sync in the test with slow syncs. */
const SYNC_MS = 4000;

describe('Three services, each on its own node of a Galera cluster', () => {
  let nodes: GaleraCluster;
  // Registered first, so that it runs before the folder is removed.
  after(async () => {
    await Promise.all((nodes ?? []).map((node) => node.stop()));
    removeNetwork();
  });
  const folder = temporaryFolder();

  before(async function () {
    skipUnlessGaleraInstalled(this);
    createNetwork();
    nodes = await startCluster(folder);
  });

  /** Starts a service on each node concurrently; returns their ports once all listen. */
  function startServices(database: string): Promise<number[]> {
    return Promise.all(nodes.map((node) => serve(folder, { DATABASE_URL: node.url(database) }).port()));
  }

  /** Opens the repository of a service on `node`. */
  function open(node: GaleraNode, database: string): Promise<PlantStorage> {
    return openRepository(mysqlDatabase({ url: node.url(database), timeoutMs: 60_000 }));
  }

  /** Creates a database and waits until each node has it, because connecting to a database does not wait. */
  async function createDatabase(name: string): Promise<string> {
    await nodes[0].sql.raw(`CREATE DATABASE ${name}`);
    for (const node of nodes) await node.waitForWrites();
    return name;
  }

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
    const strace = await slowSyncs(folder, nodes[0].server.pids, SYNC_MS);
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
    const ports = await startServices(await createDatabase('retries'));
    for (let id = 0n; id < 60n; id++) {
      const [first = 0, ...others] = [...ports, ...ports].slice(Number(id % 3n), Number(id % 3n) + 3);
      expect((await create(first, { id, name: 'Monstera' }))?.outcome).to.equal(200);
      const retries = others.flatMap((port) => ['Monstera', 'Ficus'].map((name) => create(port, { id, name })));
      const outcomes = (await Promise.all(retries)).map((response) => response?.outcome);
      expect(outcomes).to.deep.equal([40902, 40901, 40902, 40901]);
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
      await lock.rollback();
      expect((await reading).value).to.deep.equal([plant]);
    } finally {
      await Promise.all([near.close(), far.close()]);
    }
  });

  const countConflicts = async () => {
    const names = ['local_cert_failures', 'local_bf_aborts'];
    const counts = await Promise.all(nodes.flatMap((node) => names.map((name) => node.readStatus(name))));
    return counts.reduce((sum, count) => sum + Number(count), 0);
  };

  /** Faults of nodes; the services of the first `alive` nodes recover. */
  const faults: readonly { what: string; alive: 2 | 3; inject(load: Load): unknown; heal?(): unknown }[] = [
    {
      what: 'return 503 on an isolated node, which catches up when the network is restored',
      alive: 3,
      inject: async (load) => {
        isolate(2);
        await waitUntil('a cluster of two', async () => (await nodes[0].readStatus('cluster_size')) === '2');
        await load.waitForOutcomes(500, 200);
        const isIsolated = async () => (await nodes[2].readStatus('cluster_status')) === 'non-Primary';
        await waitUntil('the node notices that it is isolated', isIsolated);
      },
      heal: restoreNetwork,
    },
    {
      what: 'lose nothing when all nodes are killed simultaneously and recovered',
      alive: 3,
      inject: () => Promise.all(nodes.map(({ server }) => server.kill())),
      heal: async () => {
        await Promise.all(nodes.map((node) => node.recoverPosition()));
        for (const node of nodes) node.start();
      },
    },
    {
      what: 'lose no acknowledged plant and store no id twice when a node is killed under load',
      alive: 2,
      inject: () => nodes[2].server.kill(),
    },
  ];
  for (const [index, { what, alive, inject, heal }] of faults.entries()) {
    it(what, async () => {
      const database = await createDatabase(`faults_${index}`);
      const ports = await startServices(database);
      const load = new Load(contendedPlant);
      const earlierConflicts = await countConflicts();
      load.start(...ports);
      await waitUntil('nodes conflict', async () => (await countConflicts()) > earlierConflicts);
      await load.waitForOutcomes(500, 200);
      expect(load.outcomes(), 'no conflict between nodes reaches a client').to.have.members([200, 40901]);
      await inject(load);
      await load.waitForOutcomes(CLIENTS, 50301);
      await heal?.();
      await Promise.all(nodes.slice(0, alive).map((node) => node.waitUntilSynced(alive)));
      await load.waitForOutcomes(500, 200);
      await load.stop();
      expect(load.outcomes(ports[2] ?? 0), 'on the last node').to.include(50301);
      expect([...conclusive, 50301]).to.include.members(load.outcomes());
      await load.retryUnknown(ports[0] ?? 0);
      await expectNoViolations(load, nodes.slice(0, alive), database);
    });
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
  for (const node of nodes) await node.waitForWrites();
  const stores = await Promise.all(nodes.map(({ sql }) => readTable(sql, `${database}.plants`)));
  for (const store of stores) {
    load.expectNoViolations(store);
    expect(isDeepStrictEqual(store, stores[0]), 'all nodes have the same plants').to.equal(true);
  }
}
