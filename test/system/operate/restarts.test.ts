import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { serve } from '../../support/client.js';
import { postgresEngine } from '../../support/engines.js';
import { temporaryFolder } from '../../support/temporary.js';
import { conclusive, violationsOf } from '../history.js';
import { CLIENTS, Load } from '../load.js';
import { createCertificate, startNginx } from './nginx.js';

/** Disables the limits on the rate and on the connections of one client. */
const changes = { 'rate=100r/s': 'rate=1000000r/s', 'plant_store_connections 100;': 'plant_store_connections 1000;' };

describe('Behind nginx configured as in the guide, with two instances on PostgreSQL', () => {
  const folder = temporaryFolder();
  const stores = postgresEngine.stores();
  before(function () {
    createCertificate(this, folder);
  });

  it('restarts in turn under load lose no plant, and no client gets an error', async () => {
    const store = await stores.create();
    const start = async (PORT: string) => {
      const instance = serve(folder, { DATABASE_URL: store.url, PORT, LOG_LEVEL: 'warn' });
      return { instance, port: await instance.port() };
    };
    const running = [await start('0'), await start('0')];
    const ports = running.map(({ port }) => port);
    const { port, accessLog, errorLog } = await startNginx(folder, ports, { changes });
    const load = new Load();
    load.start(port);
    for (let restart = 0; restart < 6; restart++) {
      await load.waitForOutcomes(CLIENTS, 200);
      const [next] = running.splice(0, 1);
      expect(await next?.instance.stop()).to.equal(0);
      await load.waitForOutcomes(20, 200);
      running.push(await start(`${next?.port}`));
    }
    await load.waitForOutcomes(CLIENTS, 200);
    await load.stop();
    expect(conclusive).to.include.members(load.outcomes());
    // Each failed attempt is in the access log, and none in the error log.
    expect(readFileSync(accessLog, 'utf8')).to.include('"upstreamStatus":"502');
    expect(readFileSync(errorLog, 'utf8')).to.equal('');
    // nginx sends a create again after an error, so the plant of a 40902 may be from the first attempt.
    const history = load.history.flatMap((operation) =>
      operation.outcome === 40902 ? [{ ...operation, outcome: undefined }, operation] : [operation],
    );
    expect(violationsOf(history, await store.readPlants())).to.deep.equal([]);
  });
});
