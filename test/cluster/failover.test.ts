import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { after, before, describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { connectTo } from '../support/database-servers.js';
import { serverStore, type TestStore } from '../support/engines.js';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { skipUnless } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';
import { conclusive } from '../system/history.js';
import { Load } from '../system/load.js';

/** Clusters that a script in this folder starts. `limit` is what decides how long a failover takes. */
const clusters = [
  {
    name: 'PostgreSQL with Patroni',
    script: 'patroni.sh',
    client: 'pg',
    programs: ['etcd', 'patroni', 'haproxy', 'psql', 'pg_config', 'curl', 'setpriv', 'pgrep'],
    limit: 'ttl: 20 s',
    hasSupervisor: true,
  },
  {
    name: 'MySQL Group Replication',
    script: 'group-replication.sh',
    client: 'mysql2',
    programs: ['apt-get', 'mariadb', 'setpriv', 'pgrep'],
    limit: 'a suspicion after 5 s, group_replication_member_expel_timeout: 5 s',
    hasSupervisor: false,
  },
] as const;

describe('Two services on three servers with their own failover lose nothing', () => {
  for (const { name, script, client, programs, limit, hasSupervisor } of clusters) {
    describe(name, () => {
      // Registered first, so that it runs before the folder is removed.
      after(async () => {
        await knex?.destroy();
        await cluster?.stop();
      });
      const folder = temporaryFolder();
      const load = new Load();
      let ports: readonly number[];
      let cluster: Program | undefined;
      let knex: Knex | undefined;
      let store: TestStore;
      before(async function () {
        // Downloads packages.
        this.timeout(400_000);
        skipUnless(this, process.getuid?.() === 0, 'root, for the servers of a cluster');
        skipUnless(this, spawnSync('which', programs).status === 0, `one of the programs ${programs.join(', ')}`);
        cluster = new Program(folder, [inRepository(`test/cluster/${script}`), folder, 'start']);
        cluster.isLasting = true;
        const [url] = await cluster.waitForOutput(/\w+:\/\/.*/);
        knex = connectTo({ client, url });
        store = serverStore(url, knex);
        const services = [1, 2].map(() => serve(folder, { DATABASE_URL: url, LOG_LEVEL: 'fatal' }));
        for (const service of services) service.isLasting = true;
        ports = await Promise.all(services.map((service) => service.port()));
      });

      /** Runs a command of the script, and returns what it prints; throws if the command fails. */
      async function run(...command: readonly string[]): Promise<string> {
        const program = new Program(folder, [inRepository(`test/cluster/${script}`), folder, ...command]);
        const { exitCode, stdout, stderr } = await program.result();
        if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr}`);
        return stdout.trim();
      }

      /** Runs a command, and returns what it prints, or `undefined` if the command fails. */
      const tryToRun = (...command: readonly string[]) => run(...command).catch(() => undefined);

      /** Injects a fault under load, waits until another server is the primary, and heals the old one. */
      async function failOver(fault: readonly string[], heal?: readonly string[]): Promise<void> {
        const primary = await run('primary');
        await run(...fault, primary);
        const hasMoved = async () => ![primary, undefined].includes(await tryToRun('primary'));
        await waitUntil('another server is the primary', hasMoved);
        await load.waitForOutcomes(500, 200);
        if (heal) await run(...heal, primary);
      }

      const restart = async () => {
        await run('signal_database', 'KILL', await run('primary'));
        await load.waitForOutcomes(1, 50301);
      };
      const faults = [
        { title: 'if the primary is killed', inject: () => failOver(['signal', 'KILL'], ['join']) },
        {
          title: 'if the primary stops, and continues after the failover',
          inject: () => failOver(['signal', 'STOP'], ['signal', 'CONT']),
        },
        { title: "if the cluster's command makes another server the primary", inject: () => failOver(['switchover']) },
        ...(hasSupervisor
          ? [{ title: 'if the database of the primary is killed, and its supervisor restarts it', inject: restart }]
          : []),
      ];
      for (const { title, inject } of faults) {
        it(title, async () => {
          load.start(...ports);
          await load.waitForOutcomes(500, 200);
          const from = performance.now();
          await inject();
          await waitUntil('the cluster is whole', async () => (await tryToRun('whole')) !== undefined);
          await load.waitForOutcomes(500, 200);
          await load.expectNothingLost(ports[0] ?? 0, store);
          expect([...conclusive, 50301]).to.include.members(load.outcomes());
          console.log(`${name}, ${title}: ${load.secondsWithout200(from)} s without a 200 (${limit})`);
        });
      }
    });
  }
});
