import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { endProgramsAfterEach } from '../support/executable.js';
import { temporaryFolder } from '../support/temporary.js';
import { create, outcomeOf, serve } from './client.js';
import { CLIENTS, Load } from './load.js';
import { sqliteStore } from './stores.js';
describe('A SQLite file that is not the one any more that the service has open', () => {
    endProgramsAfterEach();
    const folder = temporaryFolder();
    let files = 0;
    let path;
    let service;
    let port;
    beforeEach(async () => {
        path = join(folder, `${++files}.db`);
        service = serve(folder, { DATABASE_URL: `sqlite:${path}`, LOG_LEVEL: 'error' });
        port = await service.port();
        expect(outcomeOf(await create(port, { id: 1n, name: 'before' }))).to.equal(200);
    });
    const changes = {
        'was deleted': () => rmSync(path),
        'was moved': () => renameSync(path, `${path}.moved`),
        'was replaced by a backup': () => {
            copyFileSync(path, `${path}.backup`);
            renameSync(`${path}.backup`, path);
        },
        'has lost its write-ahead log': () => rmSync(`${path}-wal`),
        'has lost its folder': () => {
            renameSync(folder, `${folder}.moved`);
        },
    };
    for (const [what, change] of Object.entries(changes)) {
        it(`because it ${what} takes no plant: 503, and the log says why`, async () => {
            change();
            try {
                expect(outcomeOf(await create(port, { id: 2n, name: 'after' }))).to.equal(50301);
                expect(outcomeOf(await create(port, { id: 1n, name: 'before' })), 'sent again').to.equal(50301);
                const [line] = await service.says(/^.*was moved, deleted or replaced; restart the service.*\n/m);
                expect(JSON.parse(line)).to.include({ level: 'error', error: 50301 });
                expect(await service.kill('SIGTERM').exited()).to.equal(0);
            }
            finally {
                if (what === 'has lost its folder')
                    renameSync(`${folder}.moved`, folder);
            }
        });
    }
    it('takes plants again when it is back in its place', async () => {
        renameSync(path, `${path}.moved`);
        expect(outcomeOf(await create(port, { id: 2n, name: 'after' }))).to.equal(50301);
        renameSync(`${path}.moved`, path);
        expect(outcomeOf(await create(port, { id: 2n, name: 'after' }))).to.be.oneOf([200, 40902]);
    });
    it(`under ${CLIENTS} clients answers none with 200 that is not in the file that was moved`, async () => {
        const moved = join(folder, 'moved.db');
        const load = new Load();
        load.start(port);
        await load.more(CLIENTS, 200);
        renameSync(path, moved);
        await load.more(3 * CLIENTS, 50301);
        await load.stop();
        const movedAt = load.created.findIndex(({ outcome }) => outcome === 50301);
        expect(load.created.slice(movedAt).filter(({ outcome }) => outcome === 200)).to.have.length.below(CLIENTS);
        await service.kill('SIGTERM').exited();
        load.sent.set(1n, { id: 1n, name: 'before' });
        renameSync(`${path}-wal`, `${moved}-wal`);
        await load.expectNothingLost(sqliteStore(moved));
    });
    it('is opened, as it is then, by a restart', async () => {
        rmSync(path);
        expect(outcomeOf(await create(port, { id: 2n, name: 'after' }))).to.equal(50301);
        await service.kill('SIGTERM').exited();
        const again = serve(folder, { DATABASE_URL: `sqlite:${path}` });
        expect(outcomeOf(await create(await again.port(), { id: 2n, name: 'after' }))).to.equal(200);
        expect(await sqliteStore(path).plants()).to.deep.equal([{ id: 2n, name: 'after' }]);
    });
});
//# sourceMappingURL=replaced-file.test.js.map