import crypto, { createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { InvalidTokenList, StaticTokenVerifier, tokensOfFile } from '../../../adapters/static-token/index.js';
import { tokenVerifierContract } from '../../contract/index.js';
import { runContract } from '../../support/run-contract.js';
const TOKEN = 'Correct-horse.battery~staple+/9==';
const DIGEST = `sha256:${createHash('sha256').update(TOKEN).digest('hex')}`;
describe('A static token', () => {
    describe('that is configured in plain', () => {
        runContract(tokenVerifierContract, {
            create: async () => new StaticTokenVerifier(['first-token', TOKEN]),
            validToken: TOKEN,
        });
    });
    describe('that is configured by its digest', () => {
        runContract(tokenVerifierContract, {
            create: async () => new StaticTokenVerifier(['first-token', DIGEST]),
            validToken: TOKEN,
        });
        it('is known by a digest in capitals, too', async () => {
            const verifier = new StaticTokenVerifier([DIGEST.toUpperCase()]);
            expect(await verifier.verify(TOKEN)).to.not.equal(undefined);
        });
        it('is not let in by the digest itself', async () => {
            const verifier = new StaticTokenVerifier([DIGEST]);
            expect(await verifier.verify(DIGEST)).to.equal(undefined);
            expect(await verifier.verify(DIGEST.slice('sha256:'.length))).to.equal(undefined);
        });
    });
    it('has a subject of its own for each token', async () => {
        const verifier = new StaticTokenVerifier(['one', 'two']);
        const subjects = [await verifier.verify('one'), await verifier.verify('two')].map((who) => who?.subject);
        expect(new Set(subjects)).to.have.lengthOf(2);
    });
    it('lets nobody in where there is none', async () => {
        expect(await new StaticTokenVerifier([]).verify('')).to.equal(undefined);
    });
    it('is compared with every token in constant time, also after one matched', async () => {
        const verifier = new StaticTokenVerifier(['one', 'two', 'three']);
        expect(await comparisonsDuring(() => verifier.verify('one'))).to.equal(3);
        expect(await comparisonsDuring(() => verifier.verify('none'))).to.equal(3);
    });
});
describe('A list of tokens', () => {
    const canary = 'canary';
    for (const [what, bad] of [
        ['an empty token', ''],
        ['a blank in a token', `${canary} ${canary}`],
        ['a token with a letter beyond ASCII', `${canary}é`],
        ['a token with a line break at its end', `${canary}\n`],
        ['a token with = in the middle', `${canary}=${canary}`],
        ['a digest that is too short', `sha256:${'0'.repeat(63)}`],
        ['a digest that is too long', `sha256:${'0'.repeat(65)}`],
        ['a digest with other letters', `sha256:${canary.repeat(10)}0000`],
        ['a digest that is missing', 'sha256:'],
    ]) {
        it(`is refused for ${what}, by its place and not by its text`, () => {
            expect(() => new StaticTokenVerifier(['good', bad, 'good']))
                .to.throw(InvalidTokenList, /^token 2 /)
                .with.property('message')
                .that.does.not.include(canary)
                .and.does.not.include('0000');
        });
    }
    it('takes the place of the old one', async () => {
        const verifier = new StaticTokenVerifier(['old']);
        verifier.replace(['new']);
        expect(await verifier.verify('old')).to.equal(undefined);
        expect(await verifier.verify('new')).to.not.equal(undefined);
    });
    it('leaves the old one in its place where it is invalid', async () => {
        const verifier = new StaticTokenVerifier(['old']);
        expect(() => verifier.replace(['new', 'not a token'])).to.throw(InvalidTokenList, /^token 2 /);
        expect(await verifier.verify('old')).to.not.equal(undefined);
        expect(await verifier.verify('new')).to.equal(undefined);
    });
});
describe('A file of tokens', () => {
    it('has one a line, without blank lines, comments and blanks around them', () => {
        expect(tokensOfFile('# staging\none\n\n  two \t\r\n   # off: three\nsha256:00#\nfour')).to.deep.equal([
            'one',
            'two',
            'sha256:00#',
            'four',
        ]);
    });
    it('has none where it is empty', () => {
        expect(tokensOfFile('')).to.deep.equal([]);
    });
});
/** How often `timingSafeEqual` is called meanwhile; it does its work all the same. */
async function comparisonsDuring(work) {
    const { timingSafeEqual } = crypto;
    let comparisons = 0;
    crypto.timingSafeEqual = (a, b) => {
        comparisons++;
        return timingSafeEqual(a, b);
    };
    syncBuiltinESMExports();
    try {
        await work();
    }
    finally {
        crypto.timingSafeEqual = timingSafeEqual;
        syncBuiltinESMExports();
    }
    return comparisons;
}
//# sourceMappingURL=static-token-verifier.test.js.map