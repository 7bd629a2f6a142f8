import { expect } from 'chai';
import { describe, it } from 'mocha';
import { endProgramsAfterEach } from '../support/executable.js';
import { RawClient } from '../support/raw-http.js';
import { sized } from '../support/size.js';
import { temporaryFolder } from '../support/temporary.js';
import { byId, creating, outcomeOf, serve } from './client.js';
import { CLIENTS } from './load.js';
import { mariadbEngine, postgresEngine, sqliteEngine } from './stores.js';
/** How often all clients send at once. */
const ROUNDS = sized(5, 100);
for (const engine of [sqliteEngine, postgresEngine, mariadbEngine]) {
    describe(`A plant that ${engine.name} refuses`, () => {
        endProgramsAfterEach();
        const folder = temporaryFolder();
        const stores = engine.stores();
        it(`among ${CLIENTS} concurrent creates fails alone, with 50002`, async () => {
            const store = await stores.create();
            const service = serve(folder, { DATABASE_URL: store.url, LOG_LEVEL: 'fatal' });
            const port = await service.port();
            await store.poison();
            const clients = await Promise.all(Array.from({ length: CLIENTS }, () => RawClient.connect(port)));
            const stored = [];
            for (let round = 0; round < ROUNDS; round++) {
                const poisoned = (round * 17) % CLIENTS;
                const plants = clients.map((_, client) => ({
                    id: BigInt(round * CLIENTS + client),
                    name: client === poisoned ? 'poison' : `good ${client}`,
                }));
                const outcomes = await Promise.all(clients.map(async (client, index) => {
                    const [plant] = plants.slice(index);
                    return plant && outcomeOf(await client.send(creating(plant)).answer());
                }));
                expect(outcomes).to.deep.equal(clients.map((_, client) => (client === poisoned ? 50002 : 200)));
                stored.push(...plants.filter(({ name }) => name !== 'poison'));
            }
            expect(await store.plants()).to.deep.equal(byId(stored));
        });
    });
}
//# sourceMappingURL=poison.test.js.map