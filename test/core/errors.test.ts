import {
  isStorageUnavailable,
  isTokenIssuerUnavailable,
  StorageUnavailable,
  TokenIssuerUnavailable,
} from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { importCopy } from '../support/import-copy.js';

const OTHERS = [undefined, 'STORAGE_UNAVAILABLE', { code: 'STORAGE_UNAVAILABLE' }, new Error('x')];

describe('Errors of the core', () => {
  it('have their name, for a log that prints it', () => {
    expect(`${new StorageUnavailable('closed')}`).to.equal('StorageUnavailable: closed');
    expect(`${new TokenIssuerUnavailable('down')}`).to.equal('TokenIssuerUnavailable: down');
  });

  it('of another copy of the core are recognised by their code', async () => {
    const copy: typeof import('#core/errors.js') = await importCopy('#core/errors.js');
    const error = new copy.StorageUnavailable('closed');
    expect(error).not.to.be.instanceOf(StorageUnavailable);
    expect(isStorageUnavailable(error)).to.equal(true);
    expect(isTokenIssuerUnavailable(new copy.TokenIssuerUnavailable('down'))).to.equal(true);
  });

  it('are not recognised as each other, and no other value is recognised', () => {
    const full = Object.assign(new Error('x'), { code: 'ENOSPC' });
    for (const other of [...OTHERS, full, new TokenIssuerUnavailable('down')])
      expect(isStorageUnavailable(other)).to.equal(false);
    for (const other of [...OTHERS, full, new StorageUnavailable('closed')])
      expect(isTokenIssuerUnavailable(other)).to.equal(false);
  });
});
