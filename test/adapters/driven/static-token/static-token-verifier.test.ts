import { createHash } from 'node:crypto';
import { StaticTokenVerifier } from '@plant-store/adapters/static-token';
import { tokenVerifierContract } from '@plant-store/contract';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { runContract } from '../../../support/run-contract.js';

const TOKEN = 'Correct-horse.battery~staple+/9==';
const DIGEST = createHash('sha256').update(TOKEN).digest('hex');
const [ALI, BERI] = ['ali', 'beri'].map((subject) => ({ kind: 'valid', principal: { subject } }));
const INVALID = { kind: 'invalid' };

describe('StaticTokenVerifier', () => {
  const tokens = ['one', 'two', 'pad==', 'one'].map((token) => ({ name: 'ali', token }));
  const create = async () => new StaticTokenVerifier([...tokens, { name: 'beri', digest: DIGEST.toUpperCase() }]);
  describe('meets the contract:', () => runContract(tokenVerifierContract({ create, validToken: TOKEN })));

  it('returns the name of the client, which may have several tokens, and accepts no digest', async () => {
    const verifier = await create();
    for (const token of ['one', 'two', 'pad==']) expect(await verifier.verify(token), token).to.deep.equal(ALI);
    expect(await verifier.verify(TOKEN)).to.deep.equal(BERI);
    for (const token of ['ali=one', 'ali', 'pad', DIGEST, DIGEST.toUpperCase()])
      expect(await verifier.verify(token), token).to.deep.equal(INVALID);
  });

  it('accepts only the tokens of a new list, but keeps the previous one if two clients have the same token', async () => {
    const verifier = await create();
    expect(await verifier.verify('one')).to.deep.equal(ALI);
    verifier.replace([{ name: 'ali', token: 'new' }]);
    expect(await verifier.verify('one')).to.deep.equal(INVALID);
    const ali = { name: 'ali', token: TOKEN };
    const beri = { name: 'beri', digest: DIGEST };
    const replace = () => verifier.replace([ali, beri]);
    expect(replace).to.throw(TypeError, 'token 2 is also the token of another client');
    expect(await verifier.verify('new')).to.deep.equal(ALI);
  });

  it('names the position of an invalid token, but not the token', () => {
    for (const invalid of [
      { name: 'ali', token: 1 },
      { name: 'ali', token: '' },
      { name: 'ali', token: 'canary canary' },
      { name: 'ali', token: 'canary=canary' },
      { token: 'canary' },
      { name: '', token: 'canary' },
      { name: 'ali', digest: '0'.repeat(63) },
      { name: 'ali', digest: '0'.repeat(65) },
      { name: 'ali', digest: `${DIGEST}\n` },
    ]) {
      // JavaScript code can pass this.
      const list = JSON.parse(JSON.stringify([{ name: 'ali', token: 'good' }, invalid]));
      const message = /^token 2 (?!.*(canary|0000))/;
      expect(() => new StaticTokenVerifier(list), JSON.stringify(invalid)).to.throw(TypeError, message);
    }
  });
});
