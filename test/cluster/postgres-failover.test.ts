import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, before, describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { serverStore } from '../support/engines.js';
import { freePort } from '../support/port.js';
import { skipUnless, skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { conclusive } from '../system/history.js';
import { CLIENTS, Load } from '../system/load.js';
import { type Kind, PrivateServer, postgresStandby, privateServers, WAITING } from '../system/private-server.js';

/** The name of the primary: the failover endpoint of a managed database. */
const ENDPOINT = 'db.example';
const SYNCED = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'";

describe('Two services on a PostgreSQL primary with a synchronous standby', () => {
  const folder = temporaryFolder();
  const [key, certificate, hosts] = [join(folder, 'key.pem'), join(folder, 'ca.pem'), join(folder, 'hosts')];
  /** Makes a primary, even a promoted one, wait until its standby has synced a commit. */
  const OPTIONS = [
    '--synchronous_standby_names=*',
    '--ssl=on',
    `--ssl_key_file=${key}`,
    `--ssl_cert_file=${certificate}`,
  ];
  const servers: PrivateServer[] = [];
  let port: number;
  before(async function () {
    PrivateServer.skipUnlessAvailable(this, privateServers.postgres);
    PrivateServer.skipUnlessAvailable(this, postgresStandby('', 'standby'));
    skipUnlessInstalled(this, 'openssl', 'version');
    skipUnless(this, spawnSync('unshare', ['--mount', 'true']).status === 0, 'the privileges of root');
    const options = `-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -subj /CN=${ENDPOINT} -addext subjectAltName=DNS:${ENDPOINT}`;
    spawnSync('openssl', ['req', '-x509', '-nodes', ...options.split(' '), '-keyout', key, '-out', certificate]);
    spawnSync('chown', ['postgres:', key]);
    chmodSync(key, 0o600);
    port = await freePort();
  });
  afterEach(() => Promise.all(servers.map((server) => server.kill())));

  /** Starts a server on an address of its own, with the port of the others. */
  async function start(kind: Kind): Promise<PrivateServer> {
    const hostname = `127.0.1.${servers.length + 1}`;
    const url = Object.assign(new URL(kind.url), { hostname }).href;
    const run: Kind['run'] = (own) => [...kind.run(own, port), `--listen_addresses=${hostname}`, ...OPTIONS];
    const server = await PrivateServer.install({ ...kind, url, run }, folder, port);
    servers.push(server);
    await server.start();
    return server;
  }

  /** Starts a standby, and waits until it is in sync. */
  async function addStandby(primary: PrivateServer): Promise<PrivateServer> {
    const standby = await start(postgresStandby(primary.url, 'standby'));
    await primary.waitForRow(SYNCED);
    return standby;
  }

  /** Makes the name of the primary resolve to a server. */
  function pointTo(server: PrivateServer): void {
    writeFileSync(hosts, `${new URL(server.url).hostname} ${ENDPOINT}\n`);
  }

  it('keep every guarantee under load during two failovers, over TLS, without a restart', async () => {
    let primary = await start(privateServers.postgres);
    let standby = await addStandby(primary);
    pointTo(primary);
    const DATABASE_URL = `postgres://postgres@${ENDPOINT}:${port}/postgres?sslmode=verify-full&sslrootcert=${certificate}`;
    const settings = { DATABASE_URL, STORAGE_TIMEOUT: '1s', LOG_LEVEL: 'fatal' };
    const withHosts = ['unshare', '--mount', 'sh', '-c', 'mount --bind "$0" /etc/hosts; exec "$@"', hosts];
    const services = [serve(folder, settings, withHosts), serve(folder, settings, withHosts)];
    const ports = await Promise.all(services.map((service) => service.port()));
    const load = new Load();
    load.start(...ports);
    await load.waitForOutcomes(500, 200);
    await primary.waitForRow(
      `SELECT FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND application_name = 'plant-store'`,
    );
    /** Waits until transactions wait for the standby, and creates fail. */
    const waitForBlockedCreates = async () => {
      await primary.waitForRow(`SELECT ${WAITING}`);
      await load.waitForOutcomes(CLIENTS, 50301);
    };
    /** Promotes the standby, which commits nothing before it has a standby; moves the name to it, and adds one. */
    const failOver = async () => {
      await primary.kill();
      await standby.waitForRow('SELECT pg_promote()');
      primary = standby;
      pointTo(primary);
      standby = await addStandby(primary);
      await load.waitForOutcomes(500, 200);
    };

    await standby.kill();
    await waitForBlockedCreates();
    // A crash makes visible the transactions that waited for the standby.
    await primary.kill();
    await primary.start();
    await waitForBlockedCreates();
    // The standby must not get them from the old primary.
    await primary.kill();
    await standby.start();
    await failOver();
    await failOver();

    const knex = primary.connect();
    await load.expectNothingLost(ports[0] ?? 0, serverStore(primary.url, knex)).finally(() => knex.destroy());
    expect(load.outcomes()).to.have.members([...conclusive, 50301]);
    for (const service of services) expect(await service.stop()).to.equal(0);
  });
});
