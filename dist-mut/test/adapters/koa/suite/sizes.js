import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { exchange } from '../../../support/raw-http.js';
import { create, newPlant, post, postHead, sharedService, verdict } from '../support.js';
const BODY_LIMIT_BYTES = 100_000;
/** A plant of exactly this many bytes, with characters of one to four bytes in it. */
function plantOfSize(bytes) {
    const empty = newPlant({ name: 'é漢🌱' });
    return empty.replace('🌱', `🌱${'x'.repeat(bytes - Buffer.byteLength(empty))}`);
}
/** The same bytes as one chunk of a body without Content-Length. */
function chunked(body) {
    const bytes = Buffer.from(body);
    return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n0\r\n\r\n')]);
}
/** How large a body may be. */
export function sizes(start) {
    describe('size of the body', () => {
        const service = sharedService(start, { BODY_LIMIT: `${BODY_LIMIT_BYTES}` });
        const byDefault = sharedService(start);
        const framings = {
            'a Content-Length': (body) => post(body),
            chunks: (body) => post(chunked(body), { 'Transfer-Encoding': 'chunked' }),
            gzip: (body) => post(gzipSync(body), { 'Content-Encoding': 'gzip' }),
            'gzip that does not shrink it': (body) => post(gzipSync(body, { level: 0 }), { 'Content-Encoding': 'gzip' }),
            'gzip in chunks': (body) => post(chunked(gzipSync(body)), {
                'Content-Encoding': 'gzip',
                'Transfer-Encoding': 'chunked',
            }),
        };
        for (const [framing, frame] of Object.entries(framings)) {
            it(`takes BODY_LIMIT exactly, with ${framing}`, async () => {
                expect(verdict(await exchange(service().port, frame(plantOfSize(BODY_LIMIT_BYTES))))).to.equal(200);
            });
            it(`refuses one byte more, with ${framing}`, async () => {
                expect(verdict(await exchange(service().port, frame(plantOfSize(BODY_LIMIT_BYTES + 1))))).to.equal(41301);
            });
        }
        it('is 1 MiB by default', async () => {
            expect(verdict(await create(byDefault(), plantOfSize(1024 ** 2)))).to.equal(200);
            expect(verdict(await create(byDefault(), plantOfSize(1024 ** 2 + 1)))).to.equal(41301);
        });
        for (const length of ['100001', '1099511627776', '4294967296', '9007199254740993', '18446744073709551615']) {
            it(`refuses Content-Length: ${length} before any of the body comes`, async () => {
                expect(verdict(await exchange(service().port, postHead({ 'Content-Length': length })))).to.equal(41301);
            });
        }
        it('refuses a compressed body by its Content-Length too, where that is beyond what deflate may grow it', async () => {
            const headers = { 'Content-Encoding': 'gzip', 'Content-Length': '1099511627776', Expect: '100-continue' };
            expect(verdict(await exchange(service().port, postHead(headers)))).to.equal(41301);
        });
        it('counts white space too', async () => {
            expect(verdict(await create(service(), newPlant() + ' '.repeat(BODY_LIMIT_BYTES)))).to.equal(41301);
        });
    });
}
//# sourceMappingURL=sizes.js.map