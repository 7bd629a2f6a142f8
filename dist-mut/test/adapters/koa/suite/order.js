import { expect } from 'chai';
import { describe, it } from 'mocha';
import { PlantRefused } from '../../../../core/index.js';
import { exchange, request } from '../../../support/raw-http.js';
import { create, HEADERS, newPlant, post, sharedService, startInTest, verdict, withAdd, } from '../support.js';
const { Authorization, ...NO_CREDENTIAL } = HEADERS;
const BODY_LIMIT_BYTES = 1024;
const tooLarge = 'x'.repeat(BODY_LIMIT_BYTES + 1);
/** Requests that break two rules: each is told the one that is checked first. */
const BOTH = [
    ['path', 'method', request('GET /plant'), 40401],
    ['path', 'credential', request('POST /plant', NO_CREDENTIAL), 40401],
    ['method', 'credential', request('PUT /plants', NO_CREDENTIAL), 40501],
    ['method', 'Expect', request('PUT /plants', { ...HEADERS, Expect: 'x' }), 40501],
    ['credential', 'Expect', request('POST /plants', { ...NO_CREDENTIAL, Expect: 'x' }), 40101],
    ['token', 'Expect', post('', { Authorization: 'Bearer wrong', Expect: 'x' }), 40102],
    ['credential', 'media type', request('POST /plants', { 'Content-Type': 'text/plain' }), 40101],
    ['Expect', 'media type', post('{}', { Expect: 'x', 'Content-Type': 'text/plain' }), 41701],
    ['media type', 'size', post(tooLarge, { 'Content-Type': 'text/plain' }), 41501],
    ['charset', 'size', post(tooLarge, { 'Content-Type': 'application/json; charset=latin1' }), 41501],
    ['Content-Encoding', 'size', post(tooLarge, { 'Content-Encoding': 'zstd' }), 41501],
    ['size', 'JSON', post(tooLarge), 41301],
    ['UTF-8', 'schema', post(Buffer.from('{"id":1,"name":7,"x":"\xff"}', 'latin1')), 40001],
    ['JSON', 'schema', post('{"id":"1",}'), 40001],
    ['schema', 'domain', post('{"id":1,"name":null,"tag":"\\u0000"}'), 40002],
    ['int64', 'domain', post('{"id":9223372036854775808,"name":"\\ud800"}'), 40002],
];
/** Which of several violations a client is told of. */
export function order(start) {
    describe('order of checks', () => {
        const service = sharedService(start, { BODY_LIMIT: `${BODY_LIMIT_BYTES}` });
        const startOne = startInTest(start);
        for (const [first, second, bytes, error] of BOTH) {
            it(`${first} before ${second}`, async () => {
                expect(verdict(await exchange(service().port, bytes))).to.equal(error);
            });
        }
        it('domain before storage: a text that cannot be kept, under an id that is taken', async () => {
            await create(service(), '{"id":1000000,"name":"first"}');
            expect(verdict(await create(service(), '{"id":1000000,"name":"\\u0000"}'))).to.equal(40003);
        });
        it('storage last: a plant that breaks no rule, refused there', async () => {
            const one = await startOne({}, withAdd(async () => [{ kind: 'refused', error: new PlantRefused('no') }]));
            expect(verdict(await create(one, newPlant({ tag: '\0' })))).to.equal(40003);
            expect(verdict(await create(one))).to.equal(50002);
        });
        it('a malformed request before all else', async () => {
            expect(verdict(await exchange(service().port, 'PUT /plant HTTP/1.1\r\nExpect: x\r\n\r\n'))).to.equal(40000);
        });
    });
}
//# sourceMappingURL=order.js.map