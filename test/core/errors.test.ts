import {
  isStorageUnavailable,
  isTokenIssuerUnavailable,
  StorageUnavailable,
  TokenIssuerUnavailable,
} from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';

describe('Errors of the core', () => {
  it('are recognised by their code, also those of another copy of the core', async () => {
    const copy: typeof import('#core/errors.js') = await import(`${import.meta.resolve('#core/errors.js')}?copy`);
    const storage = [new StorageUnavailable('closed'), new copy.StorageUnavailable('closed')];
    const issuer = [new TokenIssuerUnavailable('down'), new copy.TokenIssuerUnavailable('down')];
    expect(storage[1]).not.to.be.instanceOf(StorageUnavailable);

    const full = Object.assign(new Error('full'), { code: 'ENOSPC' });
    const others = [undefined, 'STORAGE_UNAVAILABLE', { code: 'STORAGE_UNAVAILABLE' }, new Error('closed'), full];
    const all = [...others, { code: 'TOKEN_ISSUER_UNAVAILABLE' }, ...storage, ...issuer];
    expect(all.filter(isStorageUnavailable)).to.have.ordered.members(storage);
    expect(all.filter(isTokenIssuerUnavailable)).to.have.ordered.members(issuer);
  });
});
