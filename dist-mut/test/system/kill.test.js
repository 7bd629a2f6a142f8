import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { endProgramsAfterEach } from '../support/executable.js';
import { randomNumbers } from '../support/random.js';
import { sized } from '../support/size.js';
import { temporaryFolder } from '../support/temporary.js';
import { serve } from './client.js';
import { CLIENTS, Load } from './load.js';
import { mariadbEngine, postgresEngine, sqliteEngine } from './stores.js';
/** The longest that a service lives under load, in milliseconds. */
const LIFE_MS_MAX = 150;
describe('A plant that was answered with 200 is there, exactly, and no other', () => {
    endProgramsAfterEach();
    const random = randomNumbers();
    for (const { engine, times } of [
        { engine: sqliteEngine, times: sized(30, 300) },
        { engine: postgresEngine, times: sized(10, 100) },
        { engine: mariadbEngine, times: sized(10, 100) },
    ]) {
        describe(`on ${engine.name}`, () => {
            const folder = temporaryFolder();
            const stores = engine.stores();
            const load = new Load();
            let store;
            before(async () => {
                store = await stores.create();
            });
            it(`after kill -9 at ${times} random moments under ${CLIENTS} clients`, async function () {
                this.timeout(times * 5000);
                const environment = { DATABASE_URL: store.url, LOG_LEVEL: 'warn' };
                for (let time = 0; time < times; time++) {
                    const service = serve(folder, environment);
                    const port = await service.port();
                    const retried = load.retryUnknown(port);
                    load.start(port);
                    await load.more(1, 200);
                    await retried;
                    await setTimeout(random() * LIFE_MS_MAX);
                    service.kill('SIGKILL');
                    await load.ended();
                    await service.exited();
                }
                const service = serve(folder, environment);
                await load.retryUnknown(await service.port());
                expect(new Set(load.outcomes().keys())).to.deep.equal(new Set([200]));
                await load.expectNothingLost(store);
                expect(await service.kill('SIGTERM').exited()).to.equal(0);
                expect(await store.damages()).to.deep.equal([]);
            });
        });
    }
});
//# sourceMappingURL=kill.test.js.map