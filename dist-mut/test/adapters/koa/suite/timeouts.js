import { once } from 'node:events';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { exchange, RawClient, request } from '../../../support/raw-http.js';
import { create, Gate, newPlant, post, postHead, sharedService, startInTest, verdict, withAdd, } from '../support.js';
/** What a client sends before it falls silent. */
const LATE = {
    'that never sends anything': Buffer.alloc(0),
    'that stops in the first line': Buffer.from('POST /pla'),
    'that stops in its headers': Buffer.from('POST /plants HTTP/1.1\r\nHost: te'),
    'that stops before its body': postHead({ 'Content-Length': '100' }),
    'that stops in its body': post('{"id":', { 'Content-Length': '100' }),
    'that stops in a chunk': post('a\r\n{"id":', { 'Transfer-Encoding': 'chunked' }),
    'that stops in a compressed body': post('\x1f', { 'Content-Encoding': 'gzip', 'Content-Length': '100' }),
};
/** What a client sends byte by byte, and never stops. */
const DRIPPING = {
    'that drips empty lines': ['', '\r\n'],
    'that drips a header': ['POST /plants HTTP/1.1\r\nX: ', 'x'],
    'that drips headers': ['POST /plants HTTP/1.1\r\n', 'X: y\r\n'],
    'that drips a body': [postHead({ 'Content-Length': '100000' }), ' '],
    'that drips chunks': [postHead({ 'Transfer-Encoding': 'chunked' }), '1\r\n \r\n'],
};
/** Tests that wait for a clock: they begin together, to wait at the same time. */
function together(tests) {
    const begun = new Map();
    before(() => {
        for (const [title, test] of Object.entries(tests)) {
            const result = test();
            result.catch(() => { });
            begun.set(title, result);
        }
    });
    for (const title of Object.keys(tests))
        it(title, () => begun.get(title));
}
/** How long clients are waited for. Node looks for late ones every half a second, so that short settings do for all. */
export function timeouts(start) {
    describe('time limits', () => {
        const service = sharedService(start, {
            HEADERS_TIMEOUT: '150ms',
            REQUEST_TIMEOUT: '300ms',
            KEEP_ALIVE_TIMEOUT: '100ms',
        });
        const startOne = startInTest(start, after);
        const impatient = { HEADERS_TIMEOUT: '1ms', REQUEST_TIMEOUT: '1ms', KEEP_ALIVE_TIMEOUT: '1ms' };
        /** Resolves when Node has looked for late clients, and told one. */
        const lookedForLateOnes = async ({ port }) => {
            const silent = await RawClient.connect(port);
            expect(verdict(await silent.answer())).to.equal(40801);
        };
        const late = Object.entries(LATE).map(([what, bytes]) => [
            `40801, and the end, for a client ${what}`,
            async () => {
                const client = await RawClient.connect(service().port);
                const answers = await client.send(bytes).answersToEnd();
                expect(answers.map(verdict)).to.deep.equal([40801]);
                expect(answers[0]?.headers).to.include({ connection: 'close' });
            },
        ]);
        const dripping = Object.entries(DRIPPING).map(([what, [head, drop]]) => [
            `40801 for a client ${what}`,
            async () => {
                const client = await RawClient.connect(service().port);
                const dripper = setInterval(() => client.send(drop), 20);
                const answer = await client.send(head).answer();
                clearInterval(dripper);
                client.close();
                expect(verdict(answer)).to.equal(40801);
            },
        ]);
        together({
            ...Object.fromEntries(late),
            ...Object.fromEntries(dripping),
            'a request whose storage is slow is not late': async () => {
                const gate = new Gate();
                const one = await startOne(impatient, gate.beforeAdd());
                const answer = create(one);
                await gate.arrived;
                await lookedForLateOnes(one);
                gate.open();
                expect(verdict(await answer)).to.equal(200);
            },
            'a request whose storage is slow is not late behind one that is answered': async () => {
                const gate = new Gate();
                let times = 0;
                const secondIsSlow = withAdd(async (plants, repository) => {
                    if (++times === 2)
                        await gate.pass();
                    return repository.add(plants);
                });
                const one = await startOne(impatient, secondIsSlow);
                const client = await RawClient.connect(one.port);
                client.send(Buffer.concat([post(), post(newPlant(), { Connection: 'close' })]));
                await gate.arrived;
                await lookedForLateOnes(one);
                gate.open();
                expect((await client.answersToEnd()).map(verdict)).to.deep.equal([200, 200]);
            },
            'a late request is told so after the one before it is answered': async () => {
                const gate = new Gate();
                const one = await startOne(impatient, gate.beforeAdd());
                const client = await RawClient.connect(one.port);
                const answers = client.send(`${post()}POST /plants HTTP/1.1\r\n`).answersToEnd();
                await gate.arrived;
                await lookedForLateOnes(one);
                gate.open();
                expect((await answers).map(verdict)).to.deep.equal([200, 40801]);
            },
            'a request that is answered before its body came is not answered again when that is late': async () => {
                const client = await RawClient.connect(service().port);
                const answers = await client.send(request('GET /openapi.json', { 'Content-Length': '9' })).answersToEnd();
                expect(answers.map(({ status }) => status)).to.deep.equal([200]);
            },
            'an idle connection is kept for KEEP_ALIVE_TIMEOUT, then closed without a word': async () => {
                const client = await RawClient.connect(service().port);
                for (let times = 0; times < 2; times++)
                    expect(verdict(await client.send(post()).answer())).to.equal(200);
                expect(await client.answersToEnd()).to.deep.equal([]);
            },
            'a client that never reads its answers is let go': async () => {
                const client = await RawClient.connect(service().port);
                client.socket.pause();
                let open = true;
                const closed = once(client.socket, 'close')
                    .catch(() => { })
                    .finally(() => {
                    open = false;
                });
                const ask = Buffer.concat(Array.from({ length: 100 }, () => request('GET /openapi.json')));
                while (open) {
                    client.send(ask);
                    if (client.socket.writableNeedDrain) {
                        await Promise.race([once(client.socket, 'drain').catch(() => { }), closed]);
                    }
                }
            },
        });
        it('a client is told how long an idle connection is kept', async () => {
            const one = await startOne({ KEEP_ALIVE_TIMEOUT: '42s' });
            expect((await exchange(one.port, post()))?.headers['keep-alive']).to.equal('timeout=42');
        });
    });
}
//# sourceMappingURL=timeouts.js.map