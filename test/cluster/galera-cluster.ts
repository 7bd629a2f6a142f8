import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import knexFactory, { type Knex } from 'knex';
import type { Context } from 'mocha';
import { TEXT_FIELDS } from '../../core/index.js';
import type { TestPlant } from '../support/client.js';
import { Program } from '../support/executable.js';
import { fromRow } from '../support/plants.js';
import { MARIADBD } from '../support/private-server.js';
import { skipUnless } from '../support/skip-unless.js';
import { waitUntil } from '../support/wait-until.js';
import { Network } from './network.js';

/** Path of the library in Debian's package galera-4; set `TEST_GALERA` on other systems. */
const GALERA = process.env['TEST_GALERA'] ?? '/usr/lib/galera/libgalera_smm.so';

/** MariaDB does not run as root by default, and its state transfer by rsync never does. */
const USER = '--user=mysql';

/** Skips a test if a Galera cluster cannot run on this machine. Throws instead if `CI=true`. */
export function skipUnlessGaleraInstalled(context: Context): void {
  Network.skipUnlessAvailable(context);
  const programs = [MARIADBD, 'mariadb-install-db', 'rsync'];
  const missing = programs.filter((program) => spawnSync('which', [program]).status !== 0);
  if (!existsSync(GALERA)) missing.push(GALERA);
  skipUnless(context, missing.length === 0, `${missing.join(', ')}: apt-get install mariadb-server galera-4 rsync`);
}

/** A server of the cluster. */
export class GaleraNode {
  readonly name: string;
  /** Connection to this server. Its queries wait for everything that the cluster has committed. */
  readonly sql: Knex;
  readonly #folder: string;
  readonly #address: string;
  readonly #members: readonly string[];
  readonly #hostCommand: readonly [string, ...string[]];
  #program: Program | undefined;
  #position: string | undefined;

  /** @param host index of its host in the network */
  constructor(parent: string, name: string, network: Network, host: number) {
    this.name = name;
    this.#folder = join(parent, name);
    this.#address = network.address(host);
    this.#members = network.addresses;
    this.#hostCommand = network.command(host);
    this.sql = knexFactory({
      client: 'mysql2',
      log: { error() {}, warn() {} },
      connection: { uri: this.url('mysql'), charset: 'utf8mb4', supportBigNumbers: true, bigNumberStrings: true },
      pool: {
        min: 0,
        max: 2,
        afterCreate: (connection: { query(sql: string, done: (error: unknown) => void): void }, done: () => void) =>
          connection.query('SET SESSION wsrep_sync_wait = 1', done),
      },
    });
  }

  get #options(): string[] {
    const [data, tmp] = [join(this.#folder, 'data'), join(this.#folder, 'tmp')];
    return ['--no-defaults', USER, `--datadir=${data}`, `--tmpdir=${tmp}`];
  }

  /** Returns the URL of one of its databases. */
  url(database: string): string {
    return `mysql://root@${this.#address}:3306/${database}`;
  }

  /** The id of the running process. */
  get pid(): number {
    const pid = this.#program?.process.pid;
    if (pid === undefined) throw new Error(`${this.name} is not started`);
    return pid;
  }

  /** Creates an empty data folder. */
  async install(): Promise<void> {
    mkdirSync(join(this.#folder, 'tmp'), { recursive: true });
    chmodSync(join(this.#folder, 'tmp'), 0o777);
    const users = join(this.#folder, 'users.sql');
    writeFileSync(users, "FLUSH PRIVILEGES;\nCREATE USER root@'%';\nGRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;\n");
    const options = ['--skip-test-db', '--auth-root-authentication-method=normal', `--extra-file=${users}`];
    const run = new Program(this.#folder, ['mariadb-install-db', ...this.#options, ...options], {});
    if ((await run.exited()) !== 0) throw new Error(`cannot install ${this.name}: ${run.stdout}${run.stderr}`);
  }

  /** Starts it as a member of the cluster, or as the first member of a new cluster. */
  start({ isFirst = false } = {}): void {
    const position = this.#position === undefined ? [] : [`--wsrep-start-position=${this.#position}`];
    this.#run(...position, ...(isFirst ? ['--wsrep-new-cluster'] : []));
  }

  /** Determines its last transaction after a crash; the next start continues from there. */
  async recoverPosition(): Promise<void> {
    const run = this.#run('--wsrep-recover');
    this.#position = (await run.waitForOutput(/WSREP: Recovered position: (\S+)/))[1];
    await run.exited();
  }

  /** Reads a status variable by its name without `wsrep_`; returns `undefined` while the server is unavailable. */
  async readStatus(name: string): Promise<string | undefined> {
    try {
      const [rows] = await this.sql.raw(`SHOW STATUS LIKE 'wsrep_${name}'`);
      return rows[0]?.Value;
    } catch {
      const { exitCode, signalCode } = this.#program?.process ?? {};
      if (typeof exitCode === 'number') throw new Error(`${this.name} exited: ${this.#program?.stderr.slice(-4000)}`);
      if (typeof signalCode === 'string') throw new Error(`${this.name} was killed by ${signalCode}`);
      return undefined;
    }
  }

  /** Reads the plants of one of its databases. */
  async readPlants(database: string): Promise<TestPlant[]> {
    const rows: Parameters<typeof fromRow>[0][] = await this.sql(`${database}.plants`)
      .select(this.sql.raw('CAST(id AS CHAR) AS id'), ...TEXT_FIELDS)
      .orderByRaw('plants.id');
    return rows.map(fromRow);
  }

  /** Waits until it is a synced member of a cluster with `size` servers. */
  waitUntilSynced(size: number): Promise<void> {
    return waitUntil(`${this.name} is synced with a cluster of ${size}`, async () => {
      const [ready, members, state] = await Promise.all(
        ['ready', 'cluster_size', 'local_state'].map((name) => this.readStatus(name)),
      );
      return ready === 'ON' && members === `${size}` && state === '4';
    });
  }

  waitUntilIsolated(): Promise<void> {
    const isIsolated = async () => (await this.readStatus('cluster_status')) === 'non-Primary';
    return waitUntil(`${this.name} is isolated`, isIsolated);
  }

  /** Kills it. */
  async kill(): Promise<void> {
    await this.#program?.killGroup('SIGKILL').exited();
  }

  #run(...options: readonly string[]): Program {
    this.#program = new Program(this.#folder, [
      ...this.#hostCommand,
      MARIADBD,
      ...this.#options,
      `--socket=${join(this.#folder, 'data', 'socket')}`,
      `--pid-file=${join(this.#folder, 'data', 'pid')}`,
      '--bind-address=0.0.0.0',
      '--binlog-format=ROW',
      '--innodb-autoinc-lock-mode=2',
      '--innodb-flush-log-at-trx-commit=1',
      '--innodb-buffer-pool-size=64M',
      '--innodb-log-file-size=32M',
      '--wsrep-on=ON',
      `--wsrep-provider=${GALERA}`,
      '--wsrep-provider-options=gcache.size=16M',
      // Report conflicts between nodes to the service; by default the server itself retries once.
      '--wsrep-retry-autocommit=0',
      '--wsrep-cluster-name=plant-store-test',
      `--wsrep-cluster-address=gcomm://${this.#members.join(',')}`,
      `--wsrep-node-address=${this.#address}`,
      `--wsrep-node-name=${this.name}`,
      '--wsrep-sst-method=rsync',
      ...options,
    ]);
    this.#program.isLasting = true;
    return this.#program;
  }
}

/** A Galera cluster of three servers on this machine. */
export class GaleraCluster {
  readonly nodes: readonly [GaleraNode, GaleraNode, GaleraNode];
  readonly network: Network = Network.create(3);

  private constructor(folder: string) {
    const node = (host: number) => new GaleraNode(folder, `node-${host + 1}`, this.network, host);
    this.nodes = [node(0), node(1), node(2)];
  }

  /** Prepares a cluster without starting it. Always {@link stop} it. */
  static in(folder: string): GaleraCluster {
    // The servers run as another user.
    chmodSync(folder, 0o755);
    return new GaleraCluster(folder);
  }

  async start(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.install()));
    const [first, ...others] = this.nodes;
    first.start({ isFirst: true });
    await first.waitUntilSynced(1);
    for (const node of others) node.start();
    await this.waitUntilSynced();
  }

  /** Restarts the cluster after all servers have crashed. */
  async recover(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.recoverPosition()));
    for (const node of this.nodes) node.start();
    await this.waitUntilSynced();
  }

  /** Waits until all servers are synced. */
  async waitUntilSynced(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.waitUntilSynced(3)));
  }

  /** Returns the number of write conflicts between the servers so far. */
  async countConflicts(): Promise<number> {
    const names = ['local_cert_failures', 'local_bf_aborts'];
    const counts = await Promise.all(this.nodes.flatMap((node) => names.map((name) => node.readStatus(name))));
    return counts.reduce((sum, count) => sum + Number(count), 0);
  }

  /** Kills every server and removes the network. */
  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
    await Promise.all(this.nodes.map((node) => node.sql.destroy()));
    this.network.remove();
  }
}
