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
        const poisonedIndex = (round * 17) % CLIENTS;
        const creates = clients.map((client, index) => {
          const name = index === poisonedIndex ? 'poison' : `good ${index}`;
          return { client, plant: { id: BigInt(round * CLIENTS + index), name } };
        });
        const outcomes = await Promise.all(
          creates.map(async ({ client, plant }) => toOutcome(await client.send(createRequest(plant)).readResponse())),
        );
        expect(outcomes).to.deep.equal(creates.map((_, index) => (index === poisonedIndex ? 50002 : 200)));
        stored.push(...creates.map(({ plant }) => plant).filter(({ name }) => name !== 'poison'));
      }
      expect(await store.readPlants()).to.deep.equal(byId(stored));
    });
  });
}
