import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { connectTo } from '../support/database-servers.js';
import { readTable } from '../support/engines.js';
import { conclusive } from '../system/history.js';
import { CLIENTS, Load } from '../system/load.js';
import { type Cluster, startCluster } from './cluster.js';

/** Injects a fault under load, and heals it. */
type Fault = (cluster: Cluster, load: Load) => Promise<unknown>;
/** Faults by the condition in the title of their test. */
type Faults = Readonly<Record<string, Fault>>;

/** Injects a fault into the primary, waits until another server is the primary, and heals the old one. */
const failOver =
  (fault: readonly string[], heal?: readonly string[]): Fault =>
  async ({ run, waitFor }, load) => {
    const primary = await run('primary');
    await run(...fault, primary);
    await waitFor('primary', (other) => other !== primary);
    await load.waitForOutcomes(500, 200);
    if (heal) await run(...heal, primary);
  };

const faultsOfPrimary: Faults = {
  'if the primary is killed': failOver(['signal', 'KILL'], ['join']),
  'if the primary stops, and continues after the failover': failOver(['signal', 'STOP'], ['signal', 'CONT']),
  "if the cluster's command makes another server the primary": failOver(['switchover']),
};

const faultsOfGalera: Faults = {
  'nor does a client get an error, if servers write the same ids simultaneously': async ({ waitFor }, load) => {
    await waitFor('conflicts', (count) => Number(count) > 0);
    await load.waitForOutcomes(500, 200);
    expect(conclusive).to.include.members(load.outcomes());
  },
  'if a server is isolated, and catches up when the network is restored': async ({ run, waitFor }, load) => {
    await run('isolate', '3');
    await waitFor('status 1 wsrep_cluster_size', (size) => size === '2');
    await load.waitForOutcomes(500, 200);
    await waitFor('status 3 wsrep_cluster_status', (status) => status === 'non-Primary');
    await load.waitForOutcomes(500, 50301);
    // It rejects the statements that prepare a connection.
    expect(Number(await run('status', '3', 'Threads_connected')), 'connections').to.be.below(15);
    await run('connect');
  },
  'if all servers are killed simultaneously and recovered': async ({ run }, load) => {
    await run('signal', 'KILL', '1', '2', '3');
    await load.waitForOutcomes(CLIENTS, 50301);
    await Promise.all(['1', '2', '3'].map((server) => run('join', server)));
  },
  'if a server is killed and comes back': async ({ run, waitFor }, load) => {
    await run('signal', 'KILL', '3');
    await load.waitForOutcomes(CLIENTS, 50301);
    await load.waitForOutcomes(500, 200);
    await run('join', '3');
    await waitFor('status 1 wsrep_cluster_size', (size) => size === '3');
  },
};

const faultsOfPair: Faults = {
  'if the standby is killed, then the primary, and the host name moves twice': async ({ run, waitFor }, load) => {
    await waitFor('encrypted');
    const waitForBlockedCreates = async () => {
      await waitFor('blocked');
      await load.waitForOutcomes(CLIENTS, 50301);
    };
    await run('signal', 'KILL', '2');
    await waitForBlockedCreates();
    // A crash makes visible the transactions that waited for the standby.
    await run('signal', 'KILL', '1');
    await run('join', '1');
    await waitForBlockedCreates();
    // The standby must not get them from the old primary.
    await run('signal', 'KILL', '1');
    await run('join', '2');
    await run('fail_over');
    await load.waitForOutcomes(500, 200);
    await run('signal', 'KILL', '2');
    await run('fail_over');
  },
};

/** A cluster of a script. `limit` decides how long a failover takes. */
interface Kind {
  readonly name: string;
  readonly script: string;
  readonly packages: readonly string[];
  readonly limit: string;
  readonly faults: Faults;
  /** Settings of the services. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The command of the script that runs a service. */
  readonly wrapper?: string;
  /** The URL of a primary, if this process does not know the host name of the services' URL. */
  readonly toPrimaryUrl?: (primary: string) => string;
}

const clusters: readonly Kind[] = [
  {
    name: 'PostgreSQL with Patroni',
    script: 'patroni.sh',
    packages: ['postgresql-15', 'patroni', 'etcd-server', 'haproxy', 'curl'],
    limit: 'ttl: 20 s',
    faults: {
      ...faultsOfPrimary,
      'if the database of the primary is killed, and its supervisor restarts it': async ({ run }, load) => {
        await run('signal_database', 'KILL', await run('primary'));
        await load.waitForOutcomes(1, 50301);
      },
    },
  },
  {
    name: 'MySQL Group Replication',
    script: 'group-replication.sh',
    packages: ['mariadb-client'],
    limit: 'a suspicion after 5 s, group_replication_member_expel_timeout: 5 s',
    faults: faultsOfPrimary,
  },
  {
    name: 'MariaDB Galera',
    script: 'galera.sh',
    packages: ['mariadb-server', 'galera-4', 'rsync'],
    limit: 'evs.suspect_timeout: 5 s',
    faults: faultsOfGalera,
  },
  {
    name: 'A PostgreSQL primary with a synchronous standby',
    script: 'postgres-pair.sh',
    packages: ['postgresql-15', 'openssl'],
    limit: 'the commands of the test',
    faults: faultsOfPair,
    settings: { STORAGE_TIMEOUT: '1s' },
    wrapper: 'client',
    toPrimaryUrl: (primary) => `postgres://postgres@127.0.1.${primary}:17100/postgres`,
  },
];

describe('Services on a cluster of database servers lose nothing', () => {
  for (const { name, script, packages, limit, faults, settings, wrapper, toPrimaryUrl } of clusters) {
    describe(name, () => {
      const cluster = startCluster(script, packages);
      const load = new Load();
      let ports: readonly number[];
      before(async () => {
        const { folder, urls, toCommand } = cluster;
        const atLeastTwo = urls.length > 1 ? urls : [...urls, ...urls];
        const services = atLeastTwo.map((DATABASE_URL) =>
          serve(folder, { DATABASE_URL, LOG_LEVEL: 'fatal', ...settings }, wrapper ? toCommand(wrapper) : []),
        );
        for (const service of services) service.isLasting = true;
        ports = await Promise.all(services.map((service) => service.port()));
      });

      for (const [title, inject] of Object.entries(faults)) {
        it(title, async () => {
          load.start(...ports);
          await load.waitForOutcomes(500, 200);
          const from = performance.now();
          await inject(cluster, load);
          await cluster.waitFor('whole');
          await load.waitForOutcomes(500, 200);
          console.log(`${name}, ${title}: ${load.secondsWithout200(from)} s without a 200 (${limit})`);

          await load.stop();
          await load.retryUnknown(ports[0] ?? 0);
          expect([...conclusive, 50301]).to.include.members(load.outcomes());
          await cluster.waitFor('whole');
          const urls = toPrimaryUrl ? [toPrimaryUrl(await cluster.run('primary'))] : cluster.urls;
          for (const url of urls) {
            const knex = connectTo({ client: url.startsWith('mysql') ? 'mysql2' : 'pg', url });
            load.expectNoViolations(await readTable(knex, 'plants').finally(() => knex.destroy()));
          }
        });
      }
    });
  }
});
