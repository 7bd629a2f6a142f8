import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { brotliCompressSync, constants, createBrotliCompress, createDeflate, createGzip, deflateSync, gzipSync, } from 'node:zlib';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { exchange, RawClient } from '../../../support/raw-http.js';
import { create, firstServed, newPlant, postHead, sharedService, startInTest, verdict, } from '../support.js';
const CODINGS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
const MIB = 1024 ** 2;
const BOMB_MIB = 128;
const BOMBERS = {
    gzip: createGzip,
    deflate: createDeflate,
    br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
};
/** The bytes that inflate to BOMB_MIB of blanks, made without ever holding these. */
async function makeBomb(coding) {
    const blanks = Buffer.alloc(MIB, ' ');
    const bytes = [];
    await pipeline(function* () {
        for (let mib = 0; mib < BOMB_MIB; mib++)
            yield blanks;
    }, BOMBERS[coding](), async (source) => {
        for await (const chunk of source)
            bytes.push(chunk);
    });
    return Buffer.concat(bytes);
}
const bombs = new Map();
function bomb(coding) {
    const made = bombs.get(coding) ?? makeBomb(coding);
    bombs.set(coding, made);
    return made;
}
/** How a body may be compressed. */
export function encodings(start) {
    describe('Content-Encoding', () => {
        const service = sharedService(start);
        const startOne = startInTest(start);
        const send = (coding, body) => create(service(), body, { 'Content-Encoding': coding });
        for (const coding of ['identity', 'Identity', 'IDENTITY', '']) {
            it(`takes a plain body as ${JSON.stringify(coding)}`, async () => {
                expect(verdict(await send(coding, newPlant()))).to.equal(200);
            });
        }
        for (const [coding, compress] of Object.entries(CODINGS)) {
            for (const spelling of [coding, coding.toUpperCase(), coding.replace(/^./, (first) => first.toUpperCase())]) {
                it(`takes ${spelling}`, async () => {
                    const answer = await send(spelling, compress(newPlant({ name: 'é漢🌱', tag: 'x'.repeat(100_000) })));
                    expect(verdict(answer)).to.equal(200);
                    expect(answer?.json()).to.deep.equal({ name: 'é漢🌱', tag: 'x'.repeat(100_000) });
                });
            }
            const whole = compress(newPlant());
            const damaged = {
                empty: '',
                'not compressed': newPlant(),
                'cut in its middle': whole.subarray(0, 10),
                'cut before its last byte': whole.subarray(0, -1),
                'followed by garbage': Buffer.concat([whole, Buffer.from('garbage')]),
                'followed by NUL and garbage': Buffer.concat([whole, Buffer.from('\0garbage')]),
                'followed by another plant': Buffer.concat([whole, Buffer.from(newPlant())]),
                'an empty text': compress(''),
                'compressed twice': compress(whole),
            };
            for (const [what, body] of Object.entries(damaged)) {
                it(`refuses ${coding} that is ${what}`, async () => {
                    expect(verdict(await send(coding, body))).to.equal(40001);
                });
            }
            if (coding !== 'br') {
                it(`refuses ${coding} with a wrong checksum`, async () => {
                    const changed = whole.map((byte, at) => (at === whole.length - 1 ? byte ^ 0xff : byte));
                    expect(verdict(await send(coding, changed))).to.equal(40001);
                });
            }
            it(`refuses ${coding} that ends in garbage which comes later`, async () => {
                const client = await RawClient.connect(service().port);
                const body = compress(newPlant());
                client.send(postHead({ 'Content-Encoding': coding, 'Transfer-Encoding': 'chunked' }));
                client
                    .send(`${body.length.toString(16)}\r\n`)
                    .send(body)
                    .send('\r\n');
                client.send('7\r\ngarbage\r\n0\r\n\r\n');
                expect(verdict(await client.answer())).to.equal(40001);
                client.close();
            });
        }
        it('takes gzip of two members (RFC 1952 §2.2)', async () => {
            const [first = '', second = ''] = newPlant().split(',');
            expect(verdict(await send('gzip', Buffer.concat([gzipSync(`${first},`), gzipSync(second)])))).to.equal(200);
        });
        for (const coding of [
            'x',
            'x-gzip',
            'compress',
            'zstd',
            'gzip, gzip',
            'gzip, identity',
            'identity, gzip',
            'gzip,',
            '*',
        ]) {
            it(`does not know ${coding}`, async () => {
                expect(verdict(await send(coding, gzipSync(newPlant())))).to.equal(41501);
            });
        }
        it('does not know several Content-Encoding headers', async () => {
            const both = { 'Content-Encoding': 'gzip', 'content-encoding': 'identity' };
            expect(verdict(await create(service(), gzipSync(newPlant()), both))).to.equal(41501);
        });
        for (const coding of ['gzip', 'deflate', 'br']) {
            it(`stops a ${coding} bomb while it inflates`, async () => {
                const bytes = await bomb(coding);
                const before = process.resourceUsage().maxRSS;
                // One byte is missing, so the answer cannot have waited for the end.
                const head = postHead({ 'Content-Encoding': coding, 'Content-Length': `${bytes.length + 1}` });
                expect(verdict(await exchange(service().port, Buffer.concat([head, bytes])))).to.equal(41301);
                const grownMib = (process.resourceUsage().maxRSS - before) / 1024;
                expect(grownMib).to.be.below(BOMB_MIB / 2);
            });
        }
        it('ends a gzip stream of empty blocks that never ends', async () => {
            const client = await RawClient.connect(service().port);
            client.send(postHead({ 'Content-Encoding': 'gzip', 'Transfer-Encoding': 'chunked' }));
            const emptyBlocks = Buffer.alloc(65_535, Buffer.from([0, 0, 0, 0xff, 0xff]));
            client.send('a\r\n').send(gzipSync('').subarray(0, 10)).send('\r\n');
            const answer = client.answer();
            let answered = false;
            answer.finally(() => {
                answered = true;
            });
            while (!answered && client.socket.bytesWritten < 10 * MIB) {
                client.send('ffff\r\n').send(emptyBlocks).send('\r\n');
                if (client.socket.writableNeedDrain)
                    await Promise.race([once(client.socket, 'drain'), answer]);
                else
                    await new Promise(setImmediate);
            }
            expect(verdict(await answer)).to.equal(41301);
            client.close();
        });
        for (const coding of ['identity', 'gzip', 'br']) {
            it(`gives the place back of a client that leaves in the middle of a body in ${coding}`, async () => {
                const one = await startOne({ MAX_PENDING: '1' });
                const client = await RawClient.connect(one.port);
                const body = coding === 'identity' ? Buffer.from(newPlant()) : CODINGS[coding](newPlant());
                client.send(postHead({ 'Content-Encoding': coding, 'Content-Length': `${body.length}`, Expect: '100-continue' }));
                await client.answer();
                expect(verdict(await create(one)), 'while it is held').to.equal(50302);
                client.send(body.subarray(0, 12));
                client.socket.resetAndDestroy();
                expect(await firstServed(one)).to.equal(200);
            });
        }
    });
}
//# sourceMappingURL=encodings.js.map