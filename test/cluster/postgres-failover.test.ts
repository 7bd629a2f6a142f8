import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { serverStore } from '../support/engines.js';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { temporaryFolder } from '../support/temporary.js';
import { conclusive } from '../system/history.js';
import { CLIENTS, Load } from '../system/load.js';
import { PostgresPair } from './postgres-pair.js';

describe('Two services on a PostgreSQL primary with a synchronous standby', () => {
  const folder = temporaryFolder();
  let pair: PostgresPair | undefined;
  let proxy: FaultyProxy | undefined;
  before(function () {
    PostgresPair.skipUnlessAvailable(this);
  });
  after(async () => {
    await proxy?.refuseConnections();
    await pair?.stop();
  });

  it(`keep every guarantee with ${CLIENTS} clients during two failovers`, async () => {
    const servers = await PostgresPair.start(folder);
    const address = await FaultyProxy.to(servers.url, 5432);
    [pair, proxy] = [servers, address];
    const settings = { DATABASE_URL: address.toProxiedUrl(servers.url), STORAGE_TIMEOUT: '1s', LOG_LEVEL: 'fatal' };
    const services = [serve(folder, settings), serve(folder, settings)];
    const ports = await Promise.all(services.map((service) => service.port()));
    const load = new Load();
    load.start(...ports);
    await load.waitForOutcomes(500, 200);
    /** Promotes the standby, redirects the services to it and adds a new standby. */
    const failOver = async () => {
      await servers.failOver();
      address.target = servers.url;
      address.reset();
      await servers.addStandby();
      await load.waitForOutcomes(500, 200);
    };

    await servers.standby.kill();
    await servers.waitForBlockedCommit();
    await load.waitForOutcomes(CLIENTS, 50301);
    // A crash makes visible the transactions that waited for the standby.
    await servers.primary.kill();
    await servers.startPrimary();
    await servers.waitForBlockedCommit();
    await load.waitForOutcomes(CLIENTS, 50301);
    await servers.primary.kill();
    await servers.startStandby();
    await failOver();
    await failOver();

    await load.stop();
    for (const port of ports) await load.retryUnknown(port);
    expect(load.outcomes()).to.have.members([...conclusive, 50301]);
    const knex = servers.primary.connect();
    load.expectNoViolations(await serverStore(servers.url, 'pg', knex).readPlants());
    await knex.destroy();
    for (const service of services) expect(await service.stop()).to.equal(0);
  });
});
