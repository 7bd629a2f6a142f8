import crypto, { createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { assertTokens, parseTokens, StaticTokenVerifier } from '@plant-store/adapters/static-token';
import { tokenVerifierContract } from '@plant-store/contract';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { runContract } from '../../../support/run-contract.js';

const TOKEN = 'Correct-horse.battery~staple+/9==';
const DIGEST = `sha256:${createHash('sha256').update(TOKEN).digest('hex')}`;

describe('StaticTokenVerifier', () => {
  const create = async () => new StaticTokenVerifier(['first-token', DIGEST]);
  describe('meets the contract:', () => runContract(tokenVerifierContract({ create, validToken: TOKEN })));

  const subjectOf = async (verifier: StaticTokenVerifier, token: string) => {
    const verification = await verifier.verify(token);
    return verification.kind === 'valid' ? verification.principal : verification.kind;
  };

  it('accepts a digest in upper case, but not as a token', async () => {
    const verifier = new StaticTokenVerifier([`ali=${DIGEST.toUpperCase()}`]);
    expect(await subjectOf(verifier, TOKEN)).to.deep.equal({ subject: 'ali' });
    for (const digest of [DIGEST, DIGEST.toUpperCase(), DIGEST.slice('sha256:'.length)])
      expect(await subjectOf(verifier, digest)).to.equal('invalid');
  });

  it('returns the name of the client, which may have several tokens, and no issuer', async () => {
    const verifier = new StaticTokenVerifier(['ali=one', `beri.b_2@x-y=${DIGEST}`, 'ali=two', 'ali=pad==', 'ali=one']);
    for (const token of ['one', 'two', 'pad=='])
      expect(await subjectOf(verifier, token)).to.deep.equal({ subject: 'ali' });
    expect(await subjectOf(verifier, TOKEN)).to.deep.equal({ subject: 'beri.b_2@x-y' });
    for (const token of ['ali=one', 'ali', 'pad']) expect(await subjectOf(verifier, token)).to.equal('invalid');
  });

  it('names a client without a name after the digest of its token, whatever the other tokens are', async () => {
    const digest = createHash('sha256').update('first-token').digest('hex');
    const verifier = await create();
    expect(await subjectOf(verifier, 'first-token')).to.deep.equal({ subject: `sha256:${digest.slice(0, 12)}` });
    expect(await subjectOf(verifier, TOKEN)).to.deep.equal({ subject: DIGEST.slice(0, 'sha256:'.length + 12) });
  });

  it('accepts only the tokens of a new list, but keeps the previous one if two clients have the same token', async () => {
    const verifier = new StaticTokenVerifier(['ali=old']);
    expect(await subjectOf(verifier, 'old')).to.deep.equal({ subject: 'ali' });
    verifier.replace(['ali=one']);
    expect(await subjectOf(verifier, 'old')).to.equal('invalid');
    for (const list of [
      ['ali=two', 'beri=two'],
      ['two', 'ali=two'],
      [`ali=${TOKEN}`, `beri=${DIGEST}`],
    ])
      expect(() => verifier.replace(list)).to.throw(TypeError, /^token 2 is also the token of another client$/);
    expect(await subjectOf(verifier, 'one')).to.deep.equal({ subject: 'ali' });
  });

  it('compares with every token in constant time, even after a match', async () => {
    const verifier = new StaticTokenVerifier(['one', 'two', 'three']);
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

describe('A token list', () => {
  const canary = 'canary';
  for (const { title, bad } of [
    { title: 'rejects a number instead of a token', bad: JSON.parse('1') },
    { title: 'rejects an empty token', bad: '' },
    { title: 'rejects a space in a token', bad: `${canary} ${canary}` },
    { title: 'rejects a token with = in the middle', bad: `ali=${canary}=${canary}` },
    { title: 'rejects a name without a token', bad: `${canary}=` },
    { title: 'rejects a token that ends in = and has no name', bad: `${canary}==` },
    { title: 'rejects a digest after = instead of a colon', bad: `SHA256=${'0'.repeat(64)}` },
    { title: 'rejects an empty name', bad: `=${canary}` },
    { title: 'rejects a name with a space', bad: `${canary} ${canary}=token` },
    { title: 'rejects a name with a non-ASCII letter', bad: `${canary}é=token` },
    { title: 'rejects a digest that is too short', bad: `sha256:${'0'.repeat(63)}` },
    { title: 'rejects a digest that is too long', bad: `sha256:${'0'.repeat(65)}` },
    { title: 'rejects a digest after other letters', bad: `x${DIGEST}` },
    { title: 'rejects a digest with a second line', bad: `${DIGEST}\n` },
  ]) {
    it(title, () => {
      const list = ['good', bad, 'good'];
      // Names the position, not the token.
      for (const use of [() => new StaticTokenVerifier(list), () => assertTokens(list)])
        expect(use).to.throw(TypeError, RegExp(`^token 2 (?!.*(${canary}|0000))`));
    });
  }

  it('has one token per line of a file, without blank lines, comments and surrounding white space', () => {
    const tokens = parseTokens('# staging\none\n\n  two \t\r\n   # off: three\nsha256:00#\nfour');
    expect(tokens).to.deep.equal(['one', 'two', 'sha256:00#', 'four']);
  });
});
