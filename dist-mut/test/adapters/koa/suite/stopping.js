import { connect } from 'node:net';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { RawClient, request } from '../../../support/raw-http.js';
import { create, expectRetryAfter, Gate, newPlant, post, postHead, servedMeanwhile, startInTest, verdict, } from '../support.js';
const SHUTDOWN_TIMEOUT = { SHUTDOWN_TIMEOUT: '5s' };
const refusedBecauseStopping = (answer) => {
    expect(verdict(answer)).to.equal(50303);
    expect(answer?.headers).to.include({ connection: 'close' });
    expectRetryAfter(answer);
};
/** How the service ends. */
export function stopping(start) {
    describe('stopping', () => {
        const startOne = startInTest(start);
        it('takes well under a second at rest', async () => {
            const one = await startOne(SHUTDOWN_TIMEOUT);
            await create(one);
            const begun = performance.now();
            expect(await one.stop()).to.equal(true);
            expect(performance.now() - begun).to.be.below(500);
        });
        it('takes well under a second where a client was refused early, and has left', async () => {
            const one = await startOne(SHUTDOWN_TIMEOUT);
            const client = (await connected(one)).send(request('POST /plants', { 'Content-Length': '1000' }));
            expect(verdict(await client.answer())).to.equal(40101);
            client.close();
            const begun = performance.now();
            expect(await one.stop()).to.equal(true);
            expect(performance.now() - begun).to.be.below(500);
        });
        it('closes idle connections, and those that never sent a request, at once', async () => {
            const one = await startOne(SHUTDOWN_TIMEOUT);
            const [silent, halfway, idle] = [await connected(one), await connected(one), await connected(one)];
            halfway.send('POST /plants HTTP/1.1\r\nHost: te');
            expect(verdict(await idle.send(post()).answer())).to.equal(200);
            const begun = performance.now();
            const stopped = one.stop();
            expect(await Promise.all([silent, halfway, idle].map((client) => client.answersToEnd()))).to.deep.equal([
                [],
                [],
                [],
            ]);
            expect(await stopped).to.equal(true);
            expect(performance.now() - begun).to.be.below(500);
        });
        it('answers what is under way in full, and closes these connections', async () => {
            const gate = new Gate();
            const one = await startOne(SHUTDOWN_TIMEOUT, gate.beforeAdd());
            const clients = await Promise.all(Array.from({ length: 5 }, () => connected(one)));
            for (const client of clients)
                client.send(post(newPlant({ name: 'under way' })));
            await gate.arrived;
            await servedMeanwhile(one);
            const stopped = one.stop();
            gate.open();
            for (const client of clients) {
                const [answer, ...more] = await client.answersToEnd();
                expect(answer).to.include({ status: 200, body: '{"name":"under way"}' });
                expect(answer?.headers).to.include({ connection: 'close' });
                expect(more).to.be.empty;
            }
            expect(await stopped).to.equal(true);
        });
        it('answers several requests of one connection that are under way', async () => {
            const gate = new Gate();
            const one = await startOne(SHUTDOWN_TIMEOUT, gate.beforeAdd());
            const client = (await connected(one)).send(Buffer.concat([post(), post(), post()]));
            await servedMeanwhile(one);
            const stopped = one.stop();
            gate.open();
            expect((await client.answersToEnd()).map(verdict)).to.deep.equal([200, 200, 200]);
            expect(await stopped).to.equal(true);
        });
        it('waits for the rest of a body that is on its way', async () => {
            const one = await startOne(SHUTDOWN_TIMEOUT);
            const client = await connected(one);
            const body = newPlant();
            await client.send(postHead({ 'Content-Length': `${body.length}`, Expect: '100-continue' })).answer();
            const stopped = one.stop();
            await new Promise(setImmediate);
            const [answer] = await client.send(body).answersToEnd();
            expect(verdict(answer)).to.equal(200);
            expect(answer?.headers).to.include({ connection: 'close' });
            expect(await stopped).to.equal(true);
        });
        it('refuses with 50303 a request that is not let in yet', async () => {
            const gate = new Gate();
            const one = await startOne(SHUTDOWN_TIMEOUT, gate.beforeFirstVerify());
            const client = (await connected(one)).send(post());
            await gate.arrived;
            const stopped = one.stop();
            gate.open();
            const [answer, ...more] = await client.answersToEnd();
            refusedBecauseStopping(answer);
            expect(more).to.be.empty;
            expect(await stopped).to.equal(true);
        });
        for (const [what, warmUp] of Object.entries({ 'a fresh': false, 'an already used': true })) {
            it(`answers a request that was sent before the stop, on ${what} connection`, async () => {
                const one = await startOne(SHUTDOWN_TIMEOUT);
                const client = await connected(one);
                if (warmUp)
                    await client.send(post()).answer();
                client.send(post());
                const stopped = one.stop();
                refusedBecauseStopping(await client.answer());
                expect(await stopped).to.equal(true);
            });
        }
        it('does nothing for a request that comes behind the one after whose answer the connection closes', async () => {
            const gate = new Gate();
            const one = await startOne(SHUTDOWN_TIMEOUT, gate.beforeAdd());
            const client = (await connected(one)).send(post());
            await gate.arrived;
            const stopped = one.stop();
            client.send(post());
            await closedForOthers(one);
            gate.open();
            expect((await client.answersToEnd()).map(verdict)).to.deep.equal([200]);
            expect(await stopped).to.equal(true);
        });
        it('lets nobody connect any more', async () => {
            const gate = new Gate();
            const one = await startOne(SHUTDOWN_TIMEOUT, gate.beforeAdd());
            const answer = create(one);
            await gate.arrived;
            const stopped = one.stop();
            await closedForOthers(one);
            gate.open();
            expect(verdict(await answer)).to.equal(200);
            expect(await stopped).to.equal(true);
        });
        it('cuts off, past its time limit, what is not done, and says so', async () => {
            const gate = new Gate();
            const one = await startOne({ SHUTDOWN_TIMEOUT: '100ms' }, gate.beforeAdd());
            const client = (await connected(one)).send(post());
            await gate.arrived;
            const begun = performance.now();
            const stopped = one.stop();
            expect(await client.answersToEnd()).to.deep.equal([]);
            expect(performance.now() - begun).to.be.within(90, 1000);
            gate.open();
            expect(await stopped).to.equal(false);
        });
        it('is not held up by a client that dawdles after an early refusal for longer than its time limit', async () => {
            const one = await startOne({ SHUTDOWN_TIMEOUT: '5s' });
            const client = (await connected(one)).send(request('POST /plants', { 'Content-Length': '1000' }));
            expect(verdict(await client.answer())).to.equal(40101);
            const begun = performance.now();
            expect(await one.stop()).to.equal(true);
            expect(performance.now() - begun).to.be.below(2000);
        });
    });
}
function connected({ port }) {
    return RawClient.connect(port);
}
/** Resolves when the system refuses new connections. */
async function closedForOthers({ port }) {
    for (let refused = false; !refused;) {
        refused = await new Promise((resolve) => {
            const socket = connect(port, '127.0.0.1', () => socket.destroy());
            socket.on('error', (error) => resolve('code' in error && error.code === 'ECONNREFUSED'));
            socket.on('close', () => resolve(false));
        });
    }
}
//# sourceMappingURL=stopping.js.map