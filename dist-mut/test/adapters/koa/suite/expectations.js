import { expect } from 'chai';
import { describe, it } from 'mocha';
import { exchange, RawClient } from '../../../support/raw-http.js';
import { create, newPlant, post, postHead, sharedService, startInTest, stored, verdict, } from '../support.js';
/** Expect: 100-continue (RFC 9110 §10.1.1). */
export function expectations(start) {
    describe('Expect', () => {
        const service = sharedService(start);
        const startOne = startInTest(start);
        const EXPECT = { Expect: '100-continue', 'Content-Length': '30' };
        for (const expectation of ['100-continue', '100-Continue']) {
            it(`${expectation}: asks for the body, then creates the plant`, async () => {
                const client = await RawClient.connect(service().port);
                const body = newPlant();
                client.send(postHead({ Expect: expectation, 'Content-Length': `${body.length}` }));
                expect((await client.answer())?.status).to.equal(100);
                expect(verdict(await client.send(body).answer())).to.equal(200);
                client.close();
            });
        }
        it('takes a body that does not wait for 100 Continue', async () => {
            const client = await RawClient.connect(service().port);
            client.send(post(newPlant(), { Expect: '100-continue' }));
            const first = await client.answer();
            expect(verdict(first?.status === 100 ? await client.answer() : first)).to.equal(200);
            client.close();
        });
        const refused = {
            'no credential': [{ Authorization: '' }, 40101],
            'a wrong token': [{ Authorization: 'Bearer wrong' }, 40102],
            'another media type': [{ 'Content-Type': 'text/plain' }, 41501],
            'an unknown Content-Encoding': [{ 'Content-Encoding': 'zstd' }, 41501],
            'a body that is too large': [{ 'Content-Length': '1048577' }, 41301],
        };
        for (const [what, [headers, error]] of Object.entries(refused)) {
            it(`never asks for the body of a request with ${what}`, async () => {
                expect(verdict(await exchange(service().port, postHead({ ...EXPECT, ...headers })))).to.equal(error);
            });
        }
        for (const expectation of ['x', '100-continue, x', '200-ok', '100']) {
            it(`refuses the expectation ${expectation}`, async () => {
                expect(verdict(await create(service(), newPlant(), { Expect: expectation }))).to.equal(41701);
            });
        }
        it('sends no 100 Continue to a client of HTTP/1.0', async () => {
            const one = await startOne();
            const http10 = post(newPlant({ name: 'old' }), { Expect: '100-continue' })
                .toString()
                .replace('HTTP/1.1', 'HTTP/1.0');
            expect(verdict(await exchange(one.port, http10))).to.equal(200);
            expect(await stored(one)).to.have.length(1);
        });
    });
}
//# sourceMappingURL=expectations.js.map