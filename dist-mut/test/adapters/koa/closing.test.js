import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { RawClient, request } from '../../support/raw-http.js';
import { startService } from '../../support/service.js';
import { Gate, HEADERS, newPlant, post, startInTest } from './support.js';
/** Statuses of all answers up to the end of a connection, and how many plants are stored then. */
async function outcome(service, client) {
    const statuses = (await client.answersToEnd()).map(({ status }) => status);
    let stored = 0;
    for await (const page of service.plants.readAll())
        stored += page.length;
    return { statuses, stored };
}
describe('After an answer that closes the connection', () => {
    const start = startInTest(startService);
    it('a request behind an Upgrade is not executed, in the same packet or later', async () => {
        const service = await start();
        const client = await RawClient.connect(service.port);
        const upgrade = request('GET /nothing', { Connection: 'Upgrade', Upgrade: 'websocket' });
        const inner = post();
        const outerHead = request('POST /plants', { ...HEADERS, 'Content-Length': `${inner.length}` });
        client.send(Buffer.concat([upgrade, outerHead]));
        await nextTurn();
        client.send(inner);
        expect(await outcome(service, client)).to.deep.equal({ statuses: [404], stored: 0 });
    });
    it('a request behind a refused body that is dropped is not executed', async () => {
        const service = await start();
        for (const extraBytes of [1, 5000, 130_000]) {
            const client = await RawClient.connect(service.port);
            const body = Buffer.alloc(1024 * 1024 + extraBytes, 'x');
            client.send(Buffer.concat([request('POST /plants', {}, body), post()]));
            expect(await outcome(service, client)).to.deep.equal({ statuses: [401], stored: 0 });
        }
    });
    it('a request whose end comes after its 408 is not executed', async () => {
        const service = await start({ HEADERS_TIMEOUT: '200ms', REQUEST_TIMEOUT: '200ms' });
        const client = await RawClient.connect(service.port);
        const late = post();
        client.send(late.subarray(0, 40));
        const answer = await client.answer();
        client.send(late.subarray(40));
        expect(answer?.status).to.equal(408);
        expect(await outcome(service, client)).to.deep.equal({ statuses: [], stored: 0 });
    });
    it('of more than a hundred requests that wait for their answers a hundred are answered, and no more executed', async () => {
        const gate = new Gate();
        const service = await start({}, gate.beforeAdd());
        const client = await RawClient.connect(service.port);
        client.send(Buffer.concat(Array.from({ length: 150 }, () => post(newPlant()))));
        await gate.arrived;
        for (let turns = 0; turns < 20; turns++)
            await nextTurn();
        gate.open();
        const { statuses, stored } = await outcome(service, client);
        expect({ answers: statuses.length, stored }).to.deep.equal({ answers: 100, stored: 100 });
    });
});
describe('A connection that asks for a tunnel', () => {
    const start = startInTest(startService);
    it('and never reads is let go', async () => {
        const service = await start({ KEEP_ALIVE_TIMEOUT: '200ms' });
        const client = await RawClient.connect(service.port);
        client.socket.pause();
        const many = Array.from({ length: 80 }, () => request('GET /openapi.json'));
        client.send(Buffer.concat([...many, request('CONNECT a:1')]));
        // Only a write tells a client that does not read that the connection has gone.
        const knocking = setInterval(() => client.send('x'), 50);
        await new Promise((resolve) => client.socket.once('close', resolve));
        clearInterval(knocking);
    });
});
//# sourceMappingURL=closing.test.js.map