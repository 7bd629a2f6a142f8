import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Knex } from 'knex';
import type { Context } from 'mocha';
import { connectTo } from '../support/database-servers.js';
import type { Program } from '../support/executable.js';
import { skipUnless, skipUnlessInstalled } from '../support/skip-unless.js';
import { waitUntil } from '../support/wait-until.js';
import { type Kind, PrivateServer, privateServers } from '../system/private-server.js';
import { addresses, onHost, skipUnlessNetwork } from './network.js';

/** Path of the library in Debian's package galera-4; set `TEST_GALERA` on other systems. */
const GALERA = process.env['TEST_GALERA'] ?? '/usr/lib/galera/libgalera_smm.so';
const USERS = "FLUSH PRIVILEGES;\nCREATE USER root@'%';\nGRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;\n";
const SETTINGS = [
  ...['--bind-address=0.0.0.0', '--binlog-format=ROW', '--innodb-autoinc-lock-mode=2'],
  ...['--innodb-flush-log-at-trx-commit=1', '--innodb-buffer-pool-size=64M', '--innodb-log-file-size=32M'],
  ...['--wsrep-on=ON', `--wsrep-provider=${GALERA}`, '--wsrep-provider-options=gcache.size=16M'],
  // Report conflicts between nodes to the service; by default the server itself retries once.
  '--wsrep-retry-autocommit=0',
  ...['--wsrep-cluster-name=plant-store-test', `--wsrep-cluster-address=gcomm://${addresses.join(',')}`],
  '--wsrep-sst-method=rsync',
];

/** Skips a test if a Galera cluster cannot run on this machine. Throws instead if `CI=true`. */
export function skipUnlessGaleraInstalled(context: Context): void {
  skipUnlessNetwork(context);
  PrivateServer.skipUnlessAvailable(context, privateServers.mariadb);
  skipUnlessInstalled(context, 'rsync', '--version');
  skipUnless(context, existsSync(GALERA), `${GALERA}: apt-get install galera-4`);
}

/** A server of the cluster. */
export class GaleraNode {
  /** The only connection to this server. */
  readonly sql: Knex;
  readonly server: PrivateServer;
  readonly #host: number;
  #program: Program | undefined;
  #position: readonly string[] = [];

  private constructor(server: PrivateServer, host: number) {
    this.server = server;
    this.#host = host;
    this.sql = connectTo(server.server);
  }

  /** @param users file of SQL that creates the users */
  static async install(folder: string, host: number, users: string): Promise<GaleraNode> {
    const { mariadb } = privateServers;
    const kind: Kind = {
      ...mariadb,
      name: `node-${host + 1}`,
      url: `mysql://root@${addresses[host]}/mysql`,
      install: (own) => [...mariadb.install(own), '--skip-test-db', `--extra-file=${users}`],
    };
    return new GaleraNode(await PrivateServer.install(kind, folder), host);
  }

  /** Returns the URL of one of its databases. */
  url(database: string): string {
    return Object.assign(new URL(this.server.server.url), { pathname: `/${database}` }).href;
  }

  /** Starts it as a member of the cluster. */
  start(...settings: readonly string[]): Program {
    const address = `${addresses[this.#host]}`;
    const own = [`--wsrep-node-address=${address}`, `--wsrep-node-name=node-${this.#host + 1}`, ...this.#position];
    this.#program = this.server.run([...SETTINGS, ...own, ...settings], onHost(this.#host));
    this.#program.isLasting = true;
    return this.#program;
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
    try {
      const [rows] = await this.sql.raw(`SHOW STATUS LIKE 'wsrep_${name}'`);
      return rows[0]?.Value;
    } catch {
      if (this.#program?.isRunning) return undefined;
      throw new Error(`node ${this.#host + 1} does not run: ${this.#program?.stderr.slice(-4000)}`);
    }
  }

  /** Waits until it has applied everything that the cluster has committed. */
  async waitForWrites(): Promise<void> {
    await this.sql.raw('SET SESSION wsrep_sync_wait = 1');
    await this.sql('information_schema.schemata').select();
  }

  /** Waits until it is a synced member of a cluster with `size` servers. */
  waitUntilSynced(size: number): Promise<void> {
    return waitUntil(`node ${this.#host + 1} is synced with a cluster of ${size}`, async () => {
      const names = ['ready', 'cluster_size', 'local_state'];
      const status = await Promise.all(names.map((name) => this.readStatus(name)));
      return status.join() === `ON,${size},4`;
    });
  }

  async stop(): Promise<void> {
    await this.server.kill();
    await this.sql.destroy();
  }
}

export type GaleraCluster = readonly [GaleraNode, GaleraNode, GaleraNode];

/** Installs and starts a cluster of three servers in the network. Always {@link GaleraNode.stop} them. */
export async function startCluster(folder: string): Promise<GaleraCluster> {
  const users = join(folder, 'users.sql');
  writeFileSync(users, USERS);
  const install = (host: number) => GaleraNode.install(folder, host, users);
  const nodes = await Promise.all([install(0), install(1), install(2)]);
  const [first, ...others] = nodes;
  first.start('--wsrep-new-cluster');
  await first.waitUntilSynced(1);
  for (const node of others) node.start();
  await Promise.all(nodes.map((node) => node.waitUntilSynced(3)));
  return nodes;
}
