import { once } from 'node:events';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { RawClient, request } from '../../../support/raw-http.js';
import { HEADERS, newPlant, post, postHead, servedMeanwhile, sharedService, verdict } from '../support.js';
const LARGE_BYTES = 64 * 1024 ** 2;
const LARGE = { 'Content-Length': `${LARGE_BYTES}` };
/** Requests that are refused by their head alone. */
const BY_HEAD = {
    'an unknown path': [(framing) => request('POST /plant', { ...HEADERS, ...framing }), 40401],
    'another method': [(framing) => request('PUT /plants', { ...HEADERS, ...framing }), 40501],
    'no Host': [(framing) => Buffer.from(`${postHead(framing)}`.replace('Host: test\r\n', '')), 40000],
    'no credential': [(framing) => request('POST /plants', { 'Content-Type': 'application/json', ...framing }), 40101],
    'a wrong token': [(framing) => postHead({ Authorization: 'Bearer wrong', ...framing }), 40102],
    'an unknown Expect': [(framing) => postHead({ Expect: 'x', ...framing }), 41701],
    'another media type': [(framing) => postHead({ 'Content-Type': 'text/plain', ...framing }), 41501],
    'an unknown Content-Encoding': [(framing) => postHead({ 'Content-Encoding': 'zstd', ...framing }), 41501],
};
/** Sends chunk after chunk until the connection ends, or takes too much; returns the answer. */
async function keepSending(client, chunk) {
    const answer = client.answer();
    const ended = client.ended();
    let open = true;
    ended.then(() => {
        open = false;
    });
    while (open && client.socket.bytesWritten < LARGE_BYTES) {
        client.send(chunk);
        if (client.socket.writableNeedDrain)
            await Promise.race([once(client.socket, 'drain').catch(() => { }), ended]);
        else
            await new Promise(setImmediate);
    }
    return answer;
}
/** Answers to requests whose body has not come, or not to its end. */
export function earlyRefusals(start) {
    describe('early refusals', () => {
        const service = sharedService(start, { BODY_LIMIT: '64kb' });
        for (const [what, [head, error]] of Object.entries(BY_HEAD)) {
            for (const [framing, headers] of Object.entries({
                'Content-Length': LARGE,
                chunks: { 'Transfer-Encoding': 'chunked' },
            })) {
                it(`answers ${what} without waiting for a body with ${framing}`, async () => {
                    const client = await RawClient.connect(service().port);
                    const sent = performance.now();
                    const answer = await client.send(head(headers)).answer();
                    expect(performance.now() - sent).to.be.below(500);
                    expect(verdict(answer)).to.equal(error);
                    expect(answer?.headers).to.include({ connection: 'close' });
                    client.close();
                });
            }
            // Where it is not even clear which host is meant, it closes.
            if (error === 40000)
                continue;
            it(`keeps the connection after ${what} where the whole body came along`, async () => {
                const client = await RawClient.connect(service().port);
                const body = newPlant({ tag: 'x'.repeat(1000) });
                const refused = Buffer.concat([head({ 'Content-Length': `${body.length}` }), Buffer.from(body)]);
                expect(verdict(await client.send(refused).answer())).to.equal(error);
                expect(verdict(await client.send(post()).answer())).to.equal(200);
                client.close();
            });
        }
        const sending = {
            'without credential': [request('POST /plants', LARGE), Buffer.alloc(65_536, ' '), 40101],
            'with a body that is too large by its Content-Length': [postHead(LARGE), Buffer.alloc(65_536, ' '), 41301],
            'with a body that becomes too large in chunks': [
                postHead({ 'Transfer-Encoding': 'chunked' }),
                Buffer.from(`8000\r\n${' '.repeat(0x8000)}\r\n`),
                41301,
            ],
            'with a body that is damaged in its first chunk': [
                postHead({ 'Content-Encoding': 'gzip', 'Transfer-Encoding': 'chunked' }),
                Buffer.from(`8000\r\n${' '.repeat(0x8000)}\r\n`),
                40001,
            ],
        };
        for (const [what, [head, chunk, error]] of Object.entries(sending)) {
            it(`reach a client that keeps sending ${what}, and end its connection`, async () => {
                const client = await RawClient.connect(service().port);
                const answer = await keepSending(client.send(head), chunk);
                expect(verdict(answer)).to.equal(error);
                expect(answer?.headers).to.include({ connection: 'close' });
                expect(client.socket.bytesWritten, 'bytes that were taken from it').to.be.below(LARGE_BYTES);
                client.close();
            });
        }
        it('end in good order, without a reset, once a client has sent the rest of a small body', async () => {
            const client = await RawClient.connect(service().port);
            const closed = new Promise((resolve) => {
                client.socket.once('error', resolve).once('close', () => resolve(undefined));
            });
            const answer = await client.send(request('POST /plants', { 'Content-Length': '500000' })).answer();
            expect(verdict(answer)).to.equal(40101);
            await servedMeanwhile(service());
            expect(client.socket.readableEnded, 'closed before the rest was sent').to.equal(false);
            client.send(Buffer.alloc(500_000));
            expect(await closed).to.equal(undefined);
        });
        it('close the connection of a client that sends no more', async () => {
            const client = await RawClient.connect(service().port);
            expect((await client.send(postHead(LARGE)).answersToEnd()).map(verdict)).to.deep.equal([41301]);
        });
    });
}
//# sourceMappingURL=early-refusals.js.map