import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { endProgramsAfterEach } from '../support/executable.js';
import { sized } from '../support/size.js';
import { temporaryFolder } from '../support/temporary.js';
import { serve } from './client.js';
import { CLIENTS, Load } from './load.js';
import { SqliteFile } from './sqlite-file.js';
import { sqliteStore } from './stores.js';
/** How long another program keeps the file locked, in milliseconds. */
const LOCKED_MS = sized(2000, 10_000);
/** How much later an answer may come on a machine that has other work. */
const SLACK_MS = 3000;
describe(`While another program keeps the file locked for ${LOCKED_MS} ms, under ${CLIENTS} clients`, () => {
    endProgramsAfterEach();
    const folder = temporaryFolder();
    for (const { what, file, timeoutMs, outcomes } of [
        {
            what: 'creates that may wait longer are all answered with 200',
            file: 'patient.db',
            timeoutMs: 10 * LOCKED_MS,
            outcomes: [200],
        },
        {
            what: 'creates that may not wait so long are answered with 503 when their time is up, and nothing is lost',
            file: 'impatient.db',
            timeoutMs: LOCKED_MS / 4,
            outcomes: [200, 50301],
        },
    ]) {
        it(what, async function () {
            this.timeout(LOCKED_MS + 30_000);
            const environment = { DATABASE_URL: `sqlite:${file}`, STORAGE_TIMEOUT: `${timeoutMs}ms`, LOG_LEVEL: 'fatal' };
            const service = serve(folder, environment);
            const port = await service.port();
            const load = new Load();
            load.start(port);
            await load.more(CLIENTS, 200);
            const other = await SqliteFile.open(join(folder, file));
            await other.exec('PRAGMA busy_timeout = 10000; BEGIN EXCLUSIVE');
            const lockedAt = performance.now();
            await setTimeout(LOCKED_MS);
            await other.exec('ROLLBACK');
            await other.close();
            await load.more(2 * CLIENTS, 200);
            await load.stop();
            expect([...load.outcomes().keys()]).to.have.members(outcomes);
            const refused = load.created.filter(({ sentAt, outcome }) => sentAt > lockedAt && outcome === 50301);
            for (const { sentAt, answeredAt } of refused)
                expect(answeredAt - sentAt, 'ms').to.be.within(timeoutMs * 0.9, timeoutMs + SLACK_MS);
            await load.retryUnknown(port);
            await load.expectNothingLost(sqliteStore(join(folder, file)));
        });
    }
});
//# sourceMappingURL=locked.test.js.map