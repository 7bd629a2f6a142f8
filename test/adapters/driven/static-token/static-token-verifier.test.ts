import crypto, { createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { type StaticToken, StaticTokenVerifier } from '@plant-store/adapters/static-token';
import { tokenVerifierContract } from '@plant-store/contract';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { runContract } from '../../../support/run-contract.js';

const TOKEN = 'Correct-horse.battery~staple+/9==';
const DIGEST = createHash('sha256').update(TOKEN).digest('hex');
const toTokens = (...tokens: readonly string[]) => tokens.map((token) => ({ name: 'ali', token }));

describe('StaticTokenVerifier', () => {
  const create = async () => new StaticTokenVerifier([...toTokens('first-token'), { name: 'beri', digest: DIGEST }]);
  describe('meets the contract:', () => runContract(tokenVerifierContract({ create, validToken: TOKEN })));

  const subjectOf = async (verifier: StaticTokenVerifier, token: string) => {
    const verification = await verifier.verify(token);
    return verification.kind === 'valid' ? verification.principal : verification.kind;
  };

  it('accepts a digest in upper case, but not as a token', async () => {
    const verifier = new StaticTokenVerifier([{ name: 'ali', digest: DIGEST.toUpperCase() }]);
    expect(await subjectOf(verifier, TOKEN)).to.deep.equal({ subject: 'ali' });
    for (const digest of [DIGEST, DIGEST.toUpperCase()]) expect(await subjectOf(verifier, digest)).to.equal('invalid');
  });

  it('returns the name of the client, which may have several tokens, and no issuer', async () => {
    const verifier = new StaticTokenVerifier([
      ...toTokens('one', 'two', 'pad==', 'one'),
      { name: 'beri', token: TOKEN },
    ]);
    for (const token of ['one', 'two', 'pad=='])
      expect(await subjectOf(verifier, token)).to.deep.equal({ subject: 'ali' });
    expect(await subjectOf(verifier, TOKEN)).to.deep.equal({ subject: 'beri' });
    for (const token of ['ali=one', 'ali', 'pad']) expect(await subjectOf(verifier, token)).to.equal('invalid');
  });

  it('accepts only the tokens of a new list, but keeps the previous one if two clients have the same token', async () => {
    const verifier = new StaticTokenVerifier(toTokens('old'));
    expect(await subjectOf(verifier, 'old')).to.deep.equal({ subject: 'ali' });
    verifier.replace(toTokens('one'));
    expect(await subjectOf(verifier, 'old')).to.equal('invalid');
    for (const [first, second] of [
      ['two', { token: 'two' }],
      [TOKEN, { digest: DIGEST }],
    ] as const)
      expect(() => verifier.replace([...toTokens(first), { name: 'beri', ...second }])).to.throw(
        TypeError,
        /^token 2 is also the token of another client$/,
      );
    expect(await subjectOf(verifier, 'one')).to.deep.equal({ subject: 'ali' });
  });

  it('compares with every token in constant time, even after a match', async () => {
    const verifier = new StaticTokenVerifier(toTokens('one', 'two', 'three'));
    const { timingSafeEqual } = crypto;
    let comparisons = 0;
    crypto.timingSafeEqual = (a, b) => {
      comparisons++;
      return timingSafeEqual(a, b);
    };
    syncBuiltinESMExports();
    await verifier.verify('one');
    await verifier.verify('none');
    crypto.timingSafeEqual = timingSafeEqual;
    syncBuiltinESMExports();
    expect(comparisons).to.equal(6);
  });
});

describe('A token list rejects', () => {
  const canary = 'canary';
  const invalid: Readonly<Record<string, unknown>> = {
    'a string': `ali=${canary}`,
    'a number as a token': { name: 'ali', token: 1 },
    'an empty token': { name: 'ali', token: '' },
    'a space in a token': { name: 'ali', token: `${canary} ${canary}` },
    'a token with = in the middle': { name: 'ali', token: `${canary}=${canary}` },
    'no name': { token: canary },
    'an empty name': { name: '', token: canary },
    'a digest that is too short': { name: 'ali', digest: '0'.repeat(63) },
    'a digest that is too long': { name: 'ali', digest: '0'.repeat(65) },
    'a digest with a second line': { name: 'ali', digest: `${DIGEST}\n` },
    'bytes as a digest': { name: 'ali', digest: Buffer.from(DIGEST, 'hex') },
  };
  for (const [title, token] of Object.entries(invalid)) {
    it(title, () => {
      const [good] = toTokens('good');
      const list: StaticToken[] = JSON.parse(JSON.stringify([good, token, good]));
      // Names the position, not the token.
      expect(() => new StaticTokenVerifier(list)).to.throw(TypeError, RegExp(`^token 2 (?!.*(${canary}|0000))`));
    });
  }
});
