import { expect } from 'chai';
import { describe, it } from 'mocha';
import { RawClient, request } from '../../../support/raw-http.js';
import { Gate, HEADERS, newPlant, post, postHead, servedMeanwhile, sharedService, startInTest, stored, verdict, verdictsToEnd, withAdd, } from '../support.js';
const LAST = { Connection: 'close' };
/** Several requests on one connection. */
export function pipelines(start) {
    describe('requests behind one another', () => {
        const service = sharedService(start);
        const startOne = startInTest(start);
        it('are answered one by one on one connection', async () => {
            const client = await RawClient.connect(service().port);
            for (let times = 0; times < 20; times++)
                expect(verdict(await client.send(post()).answer())).to.equal(200);
            client.close();
        });
        it('are answered in their order, where they come at once and the first takes longest', async () => {
            const gate = new Gate();
            let first = true;
            const firstIsSlow = withAdd(async (plants, repository) => {
                const slow = first;
                first = false;
                if (slow)
                    await gate.pass();
                else
                    setImmediate(() => gate.open());
                return repository.add(plants);
            });
            const one = await startOne({}, firstIsSlow);
            const client = await RawClient.connect(one.port);
            const names = Array.from({ length: 50 }, (_, index) => `${index}`);
            client.send(Buffer.concat([...names.map((name) => post(newPlant({ name }))), post('{}', LAST)]));
            const answers = await client.answersToEnd();
            expect(answers.slice(0, -1).map(({ body }) => body)).to.deep.equal(names.map((name) => `{"name":"${name}"}`));
            expect(verdict(answers.at(-1))).to.equal(40002);
        });
        it('are answered in their order, refused ones among them', async () => {
            const requests = [
                post(),
                request('GET /plants'),
                post('{'),
                request('POST /plants', {}, '{}'),
                post(),
                post('[]', LAST),
            ];
            expect(await verdictsToEnd(service(), Buffer.concat(requests))).to.deep.equal([
                200, 40501, 40001, 40101, 200, 40002,
            ]);
        });
        it('are not served behind one that closes the connection', async () => {
            const one = await startOne();
            expect(await verdictsToEnd(one, Buffer.concat([post(newPlant(), LAST), post(), post()]))).to.deep.equal([200]);
            expect(await stored(one)).to.have.length(1);
        });
        it('are not served behind one of HTTP/1.0', async () => {
            const one = await startOne();
            const http10 = Buffer.from(`${post()}`.replace('HTTP/1.1', 'HTTP/1.0'));
            expect(await verdictsToEnd(one, Buffer.concat([http10, post()]))).to.deep.equal([200]);
            expect(await stored(one)).to.have.length(1);
        });
        it('are not served behind CONNECT', async () => {
            const one = await startOne();
            const requests = [post(), request('CONNECT test:443'), post()];
            expect(await verdictsToEnd(one, Buffer.concat(requests))).to.deep.equal([200, 40401]);
            expect(await stored(one)).to.have.length(1);
        });
        const garbage = {
            'a line of garbage': ['garbage\r\n\r\n', 40000],
            NULs: [Buffer.alloc(100), 40000],
            'too large headers': [`POST /plants HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 43101],
            'a request without Host': ['POST /plants HTTP/1.1\r\nConnection: close\r\n\r\n', 40000],
        };
        for (const [what, [bytes, error]] of Object.entries(garbage)) {
            it(`a good one is answered first, and ${what} in the same packet after it, then the connection ends`, async () => {
                const gate = new Gate();
                const one = await startOne({}, gate.beforeAdd());
                const client = await RawClient.connect(one.port);
                client.send(Buffer.concat([post(), Buffer.from(bytes)]));
                const answers = client.answersToEnd();
                await gate.arrived;
                await servedMeanwhile(one);
                gate.open();
                expect((await answers).map(verdict)).to.deep.equal([200, error]);
            });
        }
        it('garbage that comes in several packets is answered once', async () => {
            const client = await RawClient.connect(service().port);
            const answers = client.answersToEnd();
            for (let times = 0; times < 5; times++) {
                client.send('garbage\r\n\r\n');
                await new Promise(setImmediate);
            }
            expect((await answers).map(verdict)).to.deep.equal([40000]);
        });
        it('a half-closed client still gets its answers', async () => {
            const gate = new Gate();
            const one = await startOne({}, gate.beforeAdd());
            const client = await RawClient.connect(one.port);
            client.send(Buffer.concat([post(), post()])).socket.end();
            await gate.arrived;
            await servedMeanwhile(one);
            gate.open();
            expect((await client.answersToEnd()).map(verdict)).to.deep.equal([200, 200]);
        });
        it('a client that closes its side in the middle of a body is told so, and nothing is stored', async () => {
            const one = await startOne();
            const client = await RawClient.connect(one.port);
            client.send(post(newPlant(), { 'Content-Length': '1000' })).socket.end();
            expect(verdict(await client.answer())).to.equal(40000);
            expect(await stored(one)).to.be.empty;
        });
        it('are not served behind a body that was refused before it came', async () => {
            const one = await startOne();
            const client = await RawClient.connect(one.port);
            client.send(request('POST /plants', { 'Content-Length': '4' }));
            expect(verdict(await client.answer())).to.equal(40101);
            expect(await client.send(Buffer.concat([Buffer.from('body'), post()])).answersToEnd()).to.deep.equal([]);
            expect(await stored(one)).to.be.empty;
        });
        it('no request is ever executed out of a body that was refused', async () => {
            const one = await startOne({ BODY_LIMIT: '1kb' });
            const hidden = Buffer.concat(Array.from({ length: 20 }, () => post()));
            const size = { 'Content-Length': `${hidden.length}` };
            const refused = [
                [request('POST /plants', size), 40101],
                [postHead({ Authorization: 'Bearer wrong', ...size }), 40102],
                [postHead({ 'Content-Type': 'text/plain', ...size }), 41501],
                [postHead({ Expect: 'x', ...size }), 41701],
                [postHead(size), 41301],
                [request('PUT /plants', { ...HEADERS, ...size }), 40501],
                [request('POST /plant', { ...HEADERS, ...size }), 40401],
                [request('GET /openapi.json', { ...HEADERS, ...size, Host: 'test', host: 'test' }), 40000],
                [postHead({ ...size, 'Transfer-Encoding': 'chunked' }), 40000],
                [postHead({ 'Transfer-Encoding': 'chunked' }), 40000],
            ];
            for (const [head, error] of refused) {
                for (const split of [0, 1, hidden.length]) {
                    const client = await RawClient.connect(one.port);
                    client.socket.setNoDelay(true);
                    client.send(Buffer.concat([head, hidden.subarray(0, split)]));
                    if (split < hidden.length)
                        await new Promise(setImmediate);
                    client.send(hidden.subarray(split));
                    expect(verdict(await client.answer())).to.equal(error);
                    client.close();
                }
            }
            expect(await stored(one)).to.be.empty;
        });
    });
}
//# sourceMappingURL=pipelines.js.map