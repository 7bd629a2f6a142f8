import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type KnexStorage, openMysql } from '@plant-store/adapters/knex';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { after, before, describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { readTable } from '../support/engines.js';
import { Program } from '../support/executable.js';
import { type TestPlant, toPlant } from '../support/plants.js';
import { skipUnless, skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';
import { conclusive } from '../system/history.js';
import { CLIENTS, Load } from '../system/load.js';
import { PrivateServer, privateServers } from '../system/private-server.js';

/** Path of the library in Debian's package galera-4; set `TEST_GALERA` on other systems. */
const GALERA = process.env['TEST_GALERA'] ?? '/usr/lib/galera/libgalera_smm.so';
/** Name of a bridge, and prefix of the hosts on it. Interface names have at most 15 characters. */
const BRIDGE = `ps${process.pid}`;
/** Address range for network tests (RFC 2544). */
const SUBNET = `198.18.${process.pid % 256}`;
/** Virtual hosts: network namespaces on this machine, connected to the bridge. */
const HOSTS = [hostOf(1), hostOf(2), hostOf(3)] as const;
type Host = ReturnType<typeof hostOf>;

const USERS = "FLUSH PRIVILEGES;\nCREATE USER root@'%';\nGRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;\n";
const OPTIONS = [
  ...['--bind-address=0.0.0.0', '--binlog-format=ROW', '--innodb-autoinc-lock-mode=2'],
  ...['--innodb-flush-log-at-trx-commit=1', '--innodb-buffer-pool-size=64M', '--innodb-log-file-size=32M'],
  ...['--wsrep-on=ON', `--wsrep-provider=${GALERA}`, '--wsrep-provider-options=gcache.size=16M'],
  // Report conflicts between nodes to the service; by default the server itself retries once.
  '--wsrep-retry-autocommit=0',
  `--wsrep-cluster-address=gcomm://${HOSTS.map(({ address }) => address).join()}`,
  ...['--wsrep-cluster-name=plant-store-test', '--wsrep-sst-method=rsync'],
];

describe('Three services, each on its own node of a Galera cluster', () => {
  let nodes: readonly [GaleraNode, GaleraNode, GaleraNode];
  // Registered first, so that it runs before the folder is removed.
  after(async () => {
    await Promise.all((nodes ?? []).map((node) => node.server.kill().finally(() => node.sql.destroy())));
    for (const { name } of HOSTS) spawnSync('ip', ['netns', 'delete', name]);
    for (const name of [BRIDGE, ...HOSTS.map((host) => host.name)]) spawnSync('ip', ['link', 'delete', name]);
  });
  const folder = temporaryFolder();

  before(async function () {
    PrivateServer.skipUnlessAvailable(this, privateServers.mariadb);
    skipUnlessInstalled(this, 'rsync', '--version');
    skipUnless(this, existsSync(GALERA), `${GALERA}: apt-get install galera-4`);
    const isAllowed = spawnSync('ip', ['link', 'add', BRIDGE, 'type', 'bridge']).status === 0;
    skipUnless(this, isAllowed, 'the program ip (iproute2) and permission to create networks');
    ip(`address add ${SUBNET}.254/24 dev ${BRIDGE}`);
    ip(`link set ${BRIDGE} up`);
    for (const { name, address } of HOSTS) {
      ip(`netns add ${name}`);
      ip(`link add ${name} type veth peer name eth0 netns ${name}`);
      ip(`link set ${name} master ${BRIDGE} up`);
      ip(`-n ${name} address add ${address}/24 dev eth0`);
      for (const device of ['eth0', 'lo']) ip(`-n ${name} link set ${device} up`);
    }
    writeFileSync(join(folder, 'users.sql'), USERS);
    const install = (host: Host) => GaleraNode.install(folder, host);
    nodes = await Promise.all([install(HOSTS[0]), install(HOSTS[1]), install(HOSTS[2])]);
    nodes[0].start('--wsrep-new-cluster');
    await nodes[0].waitUntilSynced(1);
    for (const node of nodes.slice(1)) node.start();
    await Promise.all(nodes.map((node) => node.waitUntilSynced(3)));
  });

  function open(node: GaleraNode, database: string): Promise<KnexStorage> {
    return openMysql({ url: node.url(database), timeoutMs: 60_000 });
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

  it('report a duplicate on the same node only after the node has synced the plant', async function () {
    skipUnlessInstalled(this, 'strace', '-o', '/dev/null', 'true');
    const database = await createDatabase('duplicates');
    const repositories = await Promise.all([open(nodes[0], database), open(nodes[0], database)]);
    const plant = toPlant({ id: 1n, name: 'Monstera' });
    const SYNC_MS = 4000;
    const delay = `inject=fsync,fdatasync:delay_enter=${SYNC_MS * 1000}`;
    const pid = `${nodes[0].server.program?.process.pid}`;
    const strace = new Program(folder, ['strace', '-f', '-e', delay, '-o', '/dev/null', `--attach=${pid}`]);
    await strace.waitForOutput(/Process \d+ attached/);
    const reports = await Promise.all(
      repositories.map(async (repository) => {
        const [outcome] = await repository.add([plant]);
        return { kind: outcome?.kind, at: performance.now() };
      }),
    );
    const at = (kind: string) => reports.find((report) => report.kind === kind)?.at ?? Number.NaN;
    expect(at('conflict') - at('added'), 'ms').to.be.above(-SYNC_MS / 2);
    await strace.kill('SIGKILL').exited();
    await Promise.all(repositories.map((repository) => repository.close()));
  });

  it('read on a lagging node every plant acknowledged on another', async () => {
    const database = await createDatabase('reading');
    const [near, far] = [await open(nodes[0], database), await open(nodes[1], database)];
    await far.ready();
    // Under this lock, a node applies no writes of the others.
    const lock = await nodes[1].sql.transaction();
    await lock.raw('SET SESSION wsrep_sync_wait = 0');
    await lock.raw('FLUSH TABLES WITH READ LOCK');
    const plant = toPlant({ id: 1n, name: 'Monstera' });
    expect((await near.add([plant])).map(({ kind }) => kind)).to.deep.equal(['added']);
    let isRead = false;
    const reading = far.read(1n, 10);
    void reading.finally(() => {
      isRead = true;
    });
    await waitUntil('the read waits or has ended', async () => {
      const [rows] = await lock.raw('SHOW FULL PROCESSLIST');
      return isRead || rows.some(({ Info }: { Info: string | null }) => Info?.includes('from `plants`'));
    });
    await lock.raw('UNLOCK TABLES');
    await lock.rollback();
    expect(await reading).to.deep.equal([plant]);
    await Promise.all([near.close(), far.close()]);
  });

  const countConflicts = async () => {
    const names = ['local_cert_failures', 'local_bf_aborts'];
    const counts = await Promise.all(nodes.flatMap((node) => names.map((name) => node.readStatus(name))));
    return counts.reduce((sum, count) => sum + Number(count), 0);
  };

  /** Faults of nodes; the services of the first `alive` nodes recover. */
  const faults: readonly { title: string; alive: 2 | 3; inject(load: Load): unknown; heal?(): unknown }[] = [
    {
      title: 'return 503 on an isolated node, which catches up when the network is restored',
      alive: 3,
      inject: async (load) => {
        // Drops every packet between the last host and the others. This process still reaches all of them.
        const [first, second, last] = HOSTS;
        for (const { name, address } of [first, second]) {
          ip(`-n ${last.name} route replace blackhole ${address}`);
          ip(`-n ${name} route replace blackhole ${last.address}`);
        }
        await waitUntil('a cluster of two', async () => (await nodes[0].readStatus('cluster_size')) === '2');
        await load.waitForOutcomes(500, 200);
        const isIsolated = async () => (await nodes[2].readStatus('cluster_status')) === 'non-Primary';
        await waitUntil('the node notices that it is isolated', isIsolated);
        await load.waitForOutcomes(500, 50301);
        // It rejects the statements that prepare a connection.
        const [[{ Value }]] = await nodes[2].sql.raw("SHOW GLOBAL STATUS LIKE 'Threads_connected'");
        expect(Number(Value), 'connections').to.be.below(15);
      },
      heal: () => {
        for (const { name } of HOSTS) ip(`-n ${name} route flush type blackhole`);
      },
    },
    {
      title: 'lose nothing when all nodes are killed simultaneously and recovered',
      alive: 3,
      inject: () => Promise.all(nodes.map(({ server }) => server.kill())),
      heal: async () => {
        await Promise.all(nodes.map((node) => node.recoverPosition()));
        for (const node of nodes) node.start();
      },
    },
    {
      title: 'lose no acknowledged plant and store no id twice when a node is killed under load',
      alive: 2,
      inject: () => nodes[2].server.kill(),
    },
  ];
  for (const [index, { title, alive, inject, heal }] of faults.entries()) {
    it(title, async () => {
      const database = await createDatabase(`faults_${index}`);
      const services = nodes.map((node) => serve(folder, { DATABASE_URL: node.url(database) }));
      const ports = await Promise.all(services.map((service) => service.port()));
      const load = new Load(contendedPlant);
      const earlierConflicts = await countConflicts();
      load.start(...ports);
      await waitUntil('nodes conflict', async () => (await countConflicts()) > earlierConflicts);
      await load.waitForOutcomes(500, 200);
      expect(load.outcomes(), 'no conflict between nodes reaches a client').to.have.members([200, 40901]);
      const from = performance.now();
      await inject(load);
      expect(await load.create(ports[2] ?? 0, { id: 2n ** 62n, name: 'Ficus' })).to.equal(50301);
      await heal?.();
      const living = nodes.slice(0, alive);
      await Promise.all(living.map((node) => node.waitUntilSynced(alive)));
      await load.waitForOutcomes(500, 200);
      await load.stop();
      console.log(`Galera: ${title}: ${load.secondsWithout200(from)} s without a 200 (evs.suspect_timeout: 5 s)`);
      expect([...conclusive, 50301]).to.include.members(load.outcomes());
      await load.retryUnknown(ports[0] ?? 0);
      for (const node of living) {
        await node.waitForWrites();
        load.expectNoViolations(await readTable(node.sql, `${database}.plants`));
      }
    });
  }
});

function hostOf(number: number) {
  return { name: `${BRIDGE}-${number}`, address: `${SUBNET}.${number}` };
}

function ip(args: string): void {
  const { status, stderr } = spawnSync('ip', args.split(' '), { encoding: 'utf8' });
  if (status !== 0) throw new Error(`ip ${args}: ${stderr}`);
}

/** Returns the plant with a given index, such that the clients of the three services contend for the same ids. */
function contendedPlant(index: number): TestPlant {
  const [clients, services] = [Math.floor(CLIENTS / 3), 3];
  const id = clients * Math.floor(index / (clients * services)) + (index % clients);
  return { id: BigInt(id % 2 === 0 ? id : -id), name: `Ōhiʻa ${id}, variant of ${index} \u{1F33A}`, tag: '' };
}

/** A server of the cluster. */
class GaleraNode {
  readonly server: PrivateServer;
  readonly sql: Knex;
  readonly #host: Host;
  #position: readonly string[] = [];

  private constructor(server: PrivateServer, host: Host) {
    this.server = server;
    this.sql = server.connect();
    this.#host = host;
  }

  static async install(folder: string, host: Host): Promise<GaleraNode> {
    const { mariadb } = privateServers;
    const options = ['--skip-test-db', `--extra-file=${join(folder, 'users.sql')}`];
    const install: typeof mariadb.install = (own) => [...mariadb.install(own), ...options];
    const kind = { ...mariadb, name: host.name, url: `mysql://root@${host.address}/mysql`, install };
    return new GaleraNode(await PrivateServer.install(kind, folder), host);
  }

  /** Returns the URL of one of its databases. */
  url(database: string): string {
    return Object.assign(new URL(this.server.url), { pathname: `/${database}` }).href;
  }

  /** Starts it as a member of the cluster. */
  start(...options: readonly string[]): Program {
    const { name, address } = this.#host;
    const own = [`--wsrep-node-address=${address}`, `--wsrep-node-name=${name}`, ...this.#position];
    const program = this.server.run([...OPTIONS, ...own, ...options], ['ip', 'netns', 'exec', name]);
    program.isLasting = true;
    return program;
  }

  /** Determines its last transaction after a crash; the next start continues from there. */
  async recoverPosition(): Promise<void> {
    const run = this.start('--wsrep-recover');
    const [, position] = await run.waitForOutput(/WSREP: Recovered position: (\S+)/);
    this.#position = [`--wsrep-start-position=${position}`];
    await run.exited();
  }

  /** Reads a status variable by its name without `wsrep_`; returns `undefined` while the server is unavailable. */
  async readStatus(name: string): Promise<string | undefined> {
    const { program } = this.server;
    if (!program?.isRunning) throw new Error(`${this.#host.name} does not run: ${program?.stderr.slice(-4000)}`);
    const result = await this.sql.raw(`SHOW STATUS LIKE 'wsrep_${name}'`).catch(() => undefined);
    return result?.[0][0]?.Value;
  }

  /** Waits until it has applied everything that the cluster has committed. */
  async waitForWrites(): Promise<void> {
    await this.sql.raw('SET SESSION wsrep_sync_wait = 1');
    await this.sql('information_schema.schemata').select();
  }

  /** Waits until it is a synced member of a cluster with `size` servers. */
  waitUntilSynced(size: number): Promise<void> {
    return waitUntil(`${this.#host.name} is synced with a cluster of ${size}`, async () => {
      const names = ['ready', 'cluster_size', 'local_state'];
      const status = await Promise.all(names.map((name) => this.readStatus(name)));
      return status.join() === `ON,${size},4`;
    });
  }
}
