import { expect } from 'chai';
import { describe, it } from 'mocha';
import { byId, createRequest, serve, type TestPlant, toOutcome } from '../support/client.js';
import { mariadbEngine, postgresEngine, sqliteEngine } from '../support/engines.js';
import { endProgramsAfterEach } from '../support/executable.js';
import { RawClient } from '../support/raw-http.js';
import { testOrSoak } from '../support/soak.js';
import { temporaryFolder } from '../support/temporary.js';
import { CLIENTS } from './load.js';

/** Number of rounds in which all clients send concurrently. */
const ROUNDS = testOrSoak(5, 100);

for (const engine of [sqliteEngine, postgresEngine, mariadbEngine]) {
  describe(`A plant rejected by ${engine.name}`, () => {
    endProgramsAfterEach();
    const folder = temporaryFolder();
    const stores = engine.stores();

    it(`does not affect ${CLIENTS - 1} concurrent creates, and gets 50002`, async () => {
      const store = await stores.create();
      const service = serve(folder, { DATABASE_URL: store.url, LOG_LEVEL: 'fatal' });
      const port = await service.port();
      await store.rejectPoison();
      const clients = await Promise.all(Array.from({ length: CLIENTS }, () => RawClient.connect(port)));
      const stored: TestPlant[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const poisoned = (round * 17) % CLIENTS;
        const plants = clients.map((_, client) => ({
          id: BigInt(round * CLIENTS + client),
          name: client === poisoned ? 'poison' : `good ${client}`,
        }));
        const outcomes = await Promise.all(
          clients.map(async (client, index) => {
            const [plant] = plants.slice(index);
            return plant && toOutcome(await client.send(createRequest(plant)).readResponse());
          }),
        );
        expect(outcomes).to.deep.equal(clients.map((_, client) => (client === poisoned ? 50002 : 200)));
        stored.push(...plants.filter(({ name }) => name !== 'poison'));
      }
      expect(await store.readPlants()).to.deep.equal(byId(stored));
    });
  });
}
