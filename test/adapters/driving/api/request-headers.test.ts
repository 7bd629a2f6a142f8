import { apiErrors, authenticate, toRequestId } from '@plant-store/adapters/api';
import type { Verification } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';

// The HTTP contract shows what is accepted.
describe('authenticate', () => {
  const verify = async (token: string): Promise<Verification> =>
    token === '!a~' ? { kind: 'valid', principal: { subject: 'gardener' } } : { kind: 'invalid', reason: 'expired' };

  it('rejects with 40102 a token that is not valid, with the reason for the log, and all else with 40101', async () => {
    const invalid = { kind: 'rejected', error: apiErrors.invalidToken, reason: 'expired' };
    expect(await authenticate('Bearer another', { verify })).to.deep.equal(invalid);
    const others = ['', '!a~', 'Bearer', 'Bearer ', 'Bearer !a~ !a~', 'Bearer \xe9', 'Basic !a~', 'x Bearer !a~'];
    const noCredential = { kind: 'rejected', error: apiErrors.noCredential };
    for (const header of [undefined, null, ...others])
      expect(await authenticate(header, { verify }), `${header}`).to.deep.equal(noCredential);
  });
});

describe('toRequestId', () => {
  it('returns a valid header, and another random id for each other header', () => {
    for (const id of ['a', 'x.y_z-1:2', 'x'.repeat(128)]) expect(toRequestId(id)).to.equal(id);
    const invalid = [undefined, '', 'x'.repeat(129), 'a b', 'a,b', 'a"b', 'a/b', 'Gr\xfcn', ['a', 'b']];
    const ids = new Set(invalid.map(toRequestId));
    for (const id of ids) expect(id).to.match(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(ids).to.have.property('size', invalid.length);
  });
});
