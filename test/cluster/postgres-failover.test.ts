import { expect } from 'chai';
import { afterEach, before, describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { serverStore } from '../support/engines.js';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { temporaryFolder } from '../support/temporary.js';
import { conclusive } from '../system/history.js';
import { CLIENTS, Load } from '../system/load.js';
import { type Kind, PrivateServer, postgresStandby, privateServers, WAITING } from '../system/private-server.js';

/** Makes a primary, even a promoted one, wait until its standby has synced a commit. */
const OPTIONS = ['--synchronous_standby_names=*'];
const SYNCED = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'";

describe('Two services on a PostgreSQL primary with a synchronous standby', () => {
  const folder = temporaryFolder();
  const servers: PrivateServer[] = [];
  let proxy: FaultyProxy;
  before(function () {
    PrivateServer.skipUnlessAvailable(this, privateServers.postgres);
    PrivateServer.skipUnlessAvailable(this, postgresStandby('', 'standby'));
  });
  afterEach(async () => {
    await proxy.refuseConnections();
    await Promise.all(servers.map((server) => server.kill()));
  });

  async function start(kind: Kind): Promise<PrivateServer> {
    const server = await PrivateServer.install(kind, folder);
    servers.push(server);
    await server.start(OPTIONS);
    return server;
  }

  /** Starts a standby, and waits until it is in sync. */
  async function addStandby(primary: PrivateServer): Promise<PrivateServer> {
    const standby = await start(postgresStandby(primary.url, 'standby'));
    await primary.waitForRow(SYNCED);
    return standby;
  }

  it('keep every guarantee under load during two failovers', async () => {
    let primary = await start(privateServers.postgres);
    let standby = await addStandby(primary);
    proxy = await FaultyProxy.to(primary.url);
    const DATABASE_URL = proxy.toProxiedUrl(primary.url);
    const settings = { DATABASE_URL, STORAGE_TIMEOUT: '1s', LOG_LEVEL: 'fatal' };
    const services = [serve(folder, settings), serve(folder, settings)];
    const ports = await Promise.all(services.map((service) => service.port()));
    const load = new Load();
    load.start(...ports);
    await load.waitForOutcomes(500, 200);
    /** Waits until transactions wait for the standby, and creates fail. */
    const waitForBlockedCreates = async () => {
      await primary.waitForRow(`SELECT ${WAITING}`);
      await load.waitForOutcomes(CLIENTS, 50301);
    };
    /** Promotes the standby, which commits nothing before it has a standby; redirects the services to it, and adds one. */
    const failOver = async () => {
      await primary.kill();
      await standby.promote();
      primary = standby;
      proxy.target = primary.url;
      proxy.reset();
      standby = await addStandby(primary);
      await load.waitForOutcomes(500, 200);
    };

    await standby.kill();
    await waitForBlockedCreates();
    // A crash makes visible the transactions that waited for the standby.
    await primary.kill();
    await primary.start(OPTIONS);
    await waitForBlockedCreates();
    // The standby must not get them from the old primary.
    await primary.kill();
    await standby.start(OPTIONS);
    await failOver();
    await failOver();

    const knex = primary.connect();
    await load.expectNothingLost(ports[0] ?? 0, serverStore(primary.url, knex)).finally(() => knex.destroy());
    expect(load.outcomes()).to.have.members([...conclusive, 50301]);
    for (const service of services) expect(await service.stop()).to.equal(0);
  });
});
