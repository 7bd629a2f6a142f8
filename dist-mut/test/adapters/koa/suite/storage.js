import { expect } from 'chai';
import { describe, it } from 'mocha';
import { services } from '../../../../composition/container.js';
import { PlantRefused, StorageUnavailable, TokenIssuerUnavailable } from '../../../../core/index.js';
import { create, expectRetryAfter, firstServed, Gate, newPlant, startInTest, stored, verdict, withAdd, } from '../support.js';
const SECRET = 'secret text: SELECT name FROM plants /var/lib/plants.db';
/** What a client is told where something behind the interface is broken. */
export function storage(start) {
    describe('broken parts', () => {
        const startOne = startInTest(start);
        it('50301 with Retry-After: the storage does not answer', async () => {
            const one = await startOne({}, withAdd(() => Promise.reject(new StorageUnavailable(SECRET))));
            const answer = await create(one);
            expect(verdict(answer)).to.equal(50301);
            expect(answer?.body).to.not.include('secret');
            expectRetryAfter(answer);
        });
        it('50301: the storage was closed', async () => {
            const one = await startOne();
            await one.plants.close();
            expect(verdict(await create(one))).to.equal(50301);
        });
        it('50301 with Retry-After: the storage takes longer than STORAGE_TIMEOUT; its place is held until it is done', async () => {
            const gate = new Gate();
            const one = await startOne({ STORAGE_TIMEOUT: '400ms', MAX_PENDING: '1' }, gate.beforeAdd());
            const plant = newPlant();
            const answer = await create(one, plant);
            expect(verdict(answer)).to.equal(50301);
            expectRetryAfter(answer);
            expect(verdict(await create(one))).to.equal(50302);
            gate.open();
            expect(await firstServed(one)).to.equal(200);
            expect(verdict(await create(one, plant)), 'the retry finds the plant stored').to.equal(40902);
        });
        it('gives the place back where the storage fails after STORAGE_TIMEOUT, and goes on', async () => {
            const gate = new Gate();
            let times = 0;
            const lateFailure = withAdd(async (plants, repository) => {
                if (++times > 1)
                    return repository.add(plants);
                await gate.pass();
                throw new Error(SECRET);
            });
            const one = await startOne({ STORAGE_TIMEOUT: '400ms', MAX_PENDING: '1' }, lateFailure);
            expect(verdict(await create(one))).to.equal(50301);
            gate.open();
            expect(await firstServed(one)).to.equal(200);
        });
        const defects = {
            'throws an unexpected error': () => Promise.reject(new TypeError(SECRET)),
            'throws an error with properties that libraries look at': () => Promise.reject(Object.assign(new Error(SECRET), { status: 400, statusCode: 400, expose: true, headers: { Secret: 'x' } })),
            'throws something that is no error': () => Promise.reject(SECRET),
            'throws undefined': () => Promise.reject(undefined),
            'throws before it starts': () => {
                throw new Error(SECRET);
            },
            'gives no outcome': async () => [],
        };
        for (const [what, add] of Object.entries(defects)) {
            it(`50001, and not a word of it: the storage ${what}`, async () => {
                const one = await startOne({ MAX_PENDING: '1' }, withAdd(add));
                for (let times = 0; times < 2; times++) {
                    const answer = await create(one);
                    expect(verdict(answer)).to.equal(50001);
                    expect(`${answer?.body}${JSON.stringify(answer?.headers)}`).to.not.match(/secret|SELECT|plants\.db|Error:/i);
                }
            });
        }
        it('50002: the storage refuses this one plant, and takes its neighbours', async () => {
            const one = await startOne({}, withAdd(async (plants, repository) => plants[0]?.name === 'bad' ? [{ kind: 'refused', error: new PlantRefused(SECRET) }] : repository.add(plants)));
            const [before, refused, after] = [
                await create(one),
                await create(one, newPlant({ name: 'bad' })),
                await create(one),
            ];
            expect([before, refused, after].map(verdict)).to.deep.equal([200, 50002, 200]);
            expect(refused?.body).to.not.include('secret');
            expect(await stored(one)).to.have.length(2);
        });
        it('50304 with Retry-After: the issuer of tokens does not answer; nothing is stored, no body waited for', async () => {
            const one = await startOne({}, (container) => container.rebind(services.TokenVerifier).toConstantValue({
                verify: () => Promise.reject(new TokenIssuerUnavailable(SECRET)),
            }));
            const answer = await create(one, newPlant(), { 'Content-Length': '100000' });
            expect(verdict(answer)).to.equal(50304);
            expect(answer?.body).to.not.include('secret');
            expectRetryAfter(answer);
            expect(await stored(one)).to.be.empty;
        });
        it('50001: the check of a token fails in another way', async () => {
            const one = await startOne({}, (container) => container.rebind(services.TokenVerifier).toConstantValue({ verify: () => Promise.reject(new Error(SECRET)) }));
            const answer = await create(one);
            expect(verdict(answer)).to.equal(50001);
            expect(answer?.body).to.not.include('secret');
        });
    });
}
//# sourceMappingURL=storage.js.map