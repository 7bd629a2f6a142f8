import { expect } from 'chai';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import { serve, type TestPlant } from '../support/client.js';
import { serverStore } from '../support/engines.js';
import type { Executable } from '../support/executable.js';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';
import { conclusive } from '../system/history.js';
import { CLIENTS, Load } from '../system/load.js';
import { PostgresPair } from './postgres-pair.js';

const monstera: TestPlant = { id: 1n, name: 'Monstera' };
const ficus: TestPlant = { id: 1n, name: 'Ficus' };

describe('Two services on a PostgreSQL primary with a synchronous standby', () => {
  let pair: PostgresPair;
  let proxy: FaultyProxy;
  let services: readonly Executable[];
  let ports: readonly [number, number];
  let load: Load;

  before(function () {
    PostgresPair.skipUnlessAvailable(this);
  });
  beforeEach(async () => {
    const folder = temporaryFolder();
    pair = await PostgresPair.start(folder);
    proxy = await FaultyProxy.to(pair.url, 5432);
    const environment = { DATABASE_URL: proxy.toProxiedUrl(pair.url), STORAGE_TIMEOUT: '1s', LOG_LEVEL: 'fatal' };
    const [one, other] = [serve(folder, environment), serve(folder, environment)];
    services = [one, other];
    ports = [await one.port(), await other.port()];
    load = new Load();
  });
  afterEach(async () => {
    await Promise.all(services.map((service) => service.killGroup('SIGKILL').exited()));
    await proxy.close();
    await pair.stop();
  });

  it('do not acknowledge a plant that only the primary has, because a failover loses it', async () => {
    const [one, other] = ports;
    await pair.standby.kill();
    expect(await load.create(one, monstera), 'without the standby').to.equal(50301);
    await crashPrimary();
    expect(await load.create(other, monstera), 'a retry').to.equal(50301);
    expect(await load.create(other, ficus), 'another plant').to.equal(50301);

    await pair.primary.kill();
    await pair.startStandby();
    await failOver();
    expect(await createUntilConclusive(one, ficus)).to.equal(200);
    expect(await createUntilConclusive(other, monstera)).to.equal(40901);
    load.expectNoViolations(await readPlants());
  });

  it('acknowledge a plant once the standby has it, and keep it after a failover', async () => {
    const [one, other] = ports;
    await pair.standby.kill();
    expect(await load.create(one, monstera), 'without the standby').to.equal(50301);
    await crashPrimary();
    await pair.startStandby();
    expect(await createUntilConclusive(other, monstera)).to.equal(40902);

    await failOver();
    expect(await createUntilConclusive(one, ficus)).to.equal(40901);
    load.expectNoViolations(await readPlants());
  });

  it(`keep every guarantee with ${CLIENTS} clients during two failovers`, async () => {
    load.start(...ports);
    await load.waitForOutcomes(500, 200);

    await pair.standby.kill();
    await pair.waitForBlockedCommit();
    await load.waitForOutcomes(CLIENTS, 50301);
    await crashPrimary();
    await pair.waitForBlockedCommit();
    await load.waitForOutcomes(CLIENTS, 50301);
    await pair.primary.kill();
    await pair.startStandby();
    await failOver();
    await load.waitForOutcomes(500, 200);

    await failOver();
    await load.waitForOutcomes(500, 200);

    await load.stop();
    for (const port of ports)
      expect(await createUntilConclusive(port, { id: BigInt(port), name: 'new' })).to.equal(200);
    await load.retryUnknown(ports[0]);
    expect(load.outcomes()).to.have.members([...conclusive, 50301]);
    load.expectNoViolations(await readPlants());
    for (const service of services) expect(await service.kill('SIGTERM').exited()).to.equal(0);
  });

  /** Crashes and restarts the primary, which makes visible the transactions that waited for the standby. */
  async function crashPrimary(): Promise<void> {
    await pair.primary.kill();
    await pair.startPrimary();
  }

  /** Promotes the standby, redirects the services to it and adds a new standby. */
  async function failOver(): Promise<void> {
    await pair.failOver();
    proxy.redirectTo(pair.url);
    await pair.addStandby();
  }

  /** Creates a plant with retries until the outcome is conclusive. */
  async function createUntilConclusive(port: number, plant: TestPlant): Promise<unknown> {
    let outcome: unknown;
    await waitUntil('a conclusive response', async () => {
      outcome = await load.create(port, plant);
      return conclusive.includes(outcome);
    });
    return outcome;
  }

  async function readPlants(): Promise<TestPlant[]> {
    const knex = pair.primary.connect();
    return await serverStore(pair.url, 'pg', knex)
      .readPlants()
      .finally(() => knex.destroy());
  }
});
