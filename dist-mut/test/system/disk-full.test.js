import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { endProgramsAfterEach } from '../support/executable.js';
import { needs } from '../support/needs.js';
import { randomNumbers } from '../support/random.js';
import { exchange, request } from '../support/raw-http.js';
import { sized } from '../support/size.js';
import { temporaryFolder } from '../support/temporary.js';
import { byId, create, linesOf, outcomeOf, serve } from './client.js';
import { CLIENTS, Load } from './load.js';
import { plantsIn } from './sqlite-file.js';
import { sqliteStore } from './stores.js';
const NAME_LENGTH = 20_000;
describe('On a full disk', () => {
    endProgramsAfterEach();
    const random = randomNumbers();
    const disk = join(temporaryFolder(), 'disk');
    mkdirSync(disk);
    beforeEach(function () {
        const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'plant-store-test', disk]).status === 0;
        needs(this, mounted, 'the permission to mount a tmpfs');
    });
    afterEach(() => spawnSync('umount', ['--lazy', disk]));
    /** Takes all room on the disk but `leftBytes`. */
    function fill(leftBytes) {
        const { bavail, bsize } = statfsSync(disk);
        const filler = openSync(join(disk, 'filler'), 'w');
        try {
            writeFileSync(filler, Buffer.alloc(bavail * bsize - leftBytes));
        }
        catch (error) {
            // The service was faster, and there is less than that left.
            if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC'))
                throw error;
        }
        finally {
            closeSync(filler);
        }
    }
    async function expectFailedStart() {
        const service = serve(disk);
        expect(await service.exited()).to.equal(1);
        const [line = '', ...others] = linesOf(service.stderr);
        expect(others).to.deep.equal([]);
        expect(line).to.match(/^plant-store: cannot open the SQLite file .*plants\.db: the disk .*is full$/);
    }
    it('creates are refused with 503 until there is room again, and no plant is lost', async () => {
        fill(600 * 1024);
        const service = serve(disk);
        const port = await service.port();
        const created = [];
        let refused;
        for (let id = 1n; id <= 60n; id++) {
            const plant = { id, name: `${id} `.padEnd(NAME_LENGTH, 'x') };
            const outcome = outcomeOf(await create(port, plant));
            expect(outcome).to.be.oneOf([200, 50301]);
            if (outcome === 200)
                created.push(plant);
            else
                refused ??= plant;
        }
        expect(created).not.to.have.length(0);
        if (refused === undefined)
            throw new Error('the disk was never full');
        expect((await exchange(port, request('GET /openapi.json')))?.status, 'still serves').to.equal(200);
        rmSync(join(disk, 'filler'));
        expect(outcomeOf(await create(port, refused)), 'sent again').to.equal(200);
        fill(0);
        expect(await service.kill('SIGTERM').exited()).to.equal(0);
        rmSync(join(disk, 'filler'));
        expect(await plantsIn(join(disk, 'plants.db'))).to.deep.equal(byId([...created, refused]));
    });
    it(`under ${CLIENTS} clients, again and again: 503 until there is room, nothing lost and nothing half written`, async function () {
        const times = sized(3, 30);
        this.timeout(20_000 + times * 5000);
        const service = serve(disk, { LOG_LEVEL: 'fatal' });
        const port = await service.port();
        const load = new Load();
        load.start(port);
        for (let time = 0; time < times; time++) {
            await load.more(CLIENTS, 200);
            fill(Math.floor(random() * 200 * 1024));
            await load.more(2 * CLIENTS, 50301);
            rmSync(join(disk, 'filler'));
        }
        await load.more(CLIENTS, 200);
        await load.stop();
        expect([...load.outcomes().keys()]).to.have.members([200, 50301]);
        await load.retryUnknown(port);
        fill(0);
        await service.kill('SIGKILL').exited();
        rmSync(join(disk, 'filler'));
        const store = sqliteStore(join(disk, 'plants.db'));
        await load.expectNothingLost(store);
        expect(await store.damages()).to.deep.equal([]);
    });
    for (const left of [0, 8 * 1024, 32 * 1024]) {
        it(`a start on a new file with ${left} bytes left says so in one line`, async () => {
            fill(left);
            await expectFailedStart();
        });
    }
    it('a start on an existing file says so in one line', async () => {
        const earlier = serve(disk);
        await earlier.port();
        await earlier.kill('SIGTERM').exited();
        fill(0);
        await expectFailedStart();
    });
});
//# sourceMappingURL=disk-full.test.js.map