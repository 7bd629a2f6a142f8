import { randomBytes } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { Executable, endProgramsAfterEach } from '../support/executable.js';
import { needsProgram } from '../support/needs.js';
import { PrivateServer, privateServers } from '../support/private-server.js';
import { temporaryFolder } from '../support/temporary.js';
import { create, outcomeOf, serve, TOKEN } from './client.js';
import { isBefore, systemCalls } from './system-calls.js';
describe('A plant that was answered with 200', () => {
    endProgramsAfterEach();
    const folder = temporaryFolder();
    describe('was safe from a power cut before the answer was sent:', () => {
        const name = 'Strelitzia reginae';
        let calls = [];
        before(async function () {
            needsProgram(this, 'strace', '-o', '/dev/null', 'true');
            const trace = join(folder, 'trace');
            const names = 'fsync,fdatasync,write,writev,pwrite64,sendto,sendmsg';
            const strace = ['strace', '-f', '-y', '-s', '8192', '-e', 'signal=none', '-e', `trace=${names}`, '-o', trace];
            const environment = { PORT: '0', ACCESS_TOKENS: TOKEN, DATABASE_URL: 'sqlite:new/traced.db' };
            const service = new Executable(folder, [], environment, strace);
            expect(outcomeOf(await create(await service.port(), { id: 1n, name }))).to.equal(200);
            await service.killGroup('SIGTERM').exited();
            calls = systemCalls(readFileSync(trace, 'utf8'));
        });
        /** The first call that `matches`. */
        function find(what, matches) {
            const call = calls.find(matches);
            if (call === undefined)
                throw new Error(`there is no ${what} in the trace`);
            return call;
        }
        const isAbout = ({ args }, path) => args.replace(/^\d+</, '').startsWith(`${path}>`);
        const isSyncOf = (call, path) => /^f(data)?sync$/.test(call.name) && call.result === 0 && isAbout(call, path);
        const answer = () => find('answer', ({ args }) => args.includes('"HTTP/1.1 200 OK'));
        it('its entry in the write-ahead log was synced', () => {
            const log = join(realpathSync(folder), 'new/traced.db-wal');
            const write = find('write of the plant', (call) => isAbout(call, log) && call.args.includes(name));
            const synced = find('sync after the write', (call) => isSyncOf(call, log) && isBefore(write, call));
            expect(isBefore(synced, answer())).to.equal(true);
        });
        for (const parent of ['.', 'new']) {
            it(`the folder ${parent}, in which a new entry was made, was synced`, () => {
                const synced = find('sync of the folder', (call) => isSyncOf(call, join(realpathSync(folder), parent)));
                expect(isBefore(synced, answer())).to.equal(true);
            });
        }
    });
    for (const { kind, log } of [
        { kind: privateServers.postgres, log: /\/pg_wal\/[\dA-F]{24}>/ },
        { kind: privateServers.mariadb, log: /\/ib_logfile0>/ },
    ]) {
        it(`was safe from a power cut before ${kind.name} said so, with its own settings`, async function () {
            this.timeout(60_000);
            PrivateServer.needed(this, kind);
            needsProgram(this, 'strace', '-o', '/dev/null', 'true');
            const server = await PrivateServer.install(kind, folder);
            const trace = join(folder, `trace-${kind.name}`);
            const names = 'fsync,fdatasync,pwrite64,write,recvfrom,read,sendto,sendmsg';
            await server.start([], ['strace', '-f', '-y', '-s', '8192', '-e', 'signal=none', '-e', `trace=${names}`, '-o', trace]);
            const service = serve(folder, { DATABASE_URL: server.server.url });
            const port = await service.port();
            const plants = Array.from({ length: 10 }, (_, id) => ({ id: BigInt(id), name: randomBytes(16).toString('hex') }));
            for (const plant of plants)
                expect(outcomeOf(await create(port, plant))).to.equal(200);
            expect(service.stderr, 'warnings').not.to.match(/before they are synced/);
            await service.kill('SIGTERM').exited();
            await server.stop();
            const calls = systemCalls(readFileSync(trace, 'utf8')).filter(({ result }) => result >= 0);
            const syncs = calls.filter((call) => /^f(data)?sync$/.test(call.name) && log.test(call.args));
            // Where the log continues on another page of it, a name may stand there in two parts.
            const found = plants.flatMap(({ name }) => {
                const about = calls.filter(({ args }) => args.includes(name));
                const asked = about.find((call) => /^(recvfrom|read)$/.test(call.name));
                const logged = about.find((call) => /^p?write/.test(call.name) && log.test(call.args));
                const answered = calls.find((call) => asked && isBefore(asked, call) && isAnswerTo(call, asked));
                return logged && answered ? [{ logged, answered }] : [];
            });
            expect(found.length).to.be.above(plants.length / 2);
            for (const { logged, answered } of found) {
                const synced = syncs.some((sync) => isBefore(logged, sync) && isBefore(sync, answered));
                expect(synced, 'synced between the write to the log and the answer').to.equal(true);
            }
        });
    }
});
/** Whether something is sent on the connection that something was received on. */
function isAnswerTo(call, received) {
    const connection = /^\d+<[^>]*>/.exec(received.args)?.[0] ?? '';
    return /^(sendto|sendmsg|write)$/.test(call.name) && call.args.startsWith(connection);
}
//# sourceMappingURL=durability.test.js.map