import { expect } from 'chai';
import { describe, it } from 'mocha';
import { isStorageUnavailable, isTokenIssuerUnavailable, StorageUnavailable } from '../../core/index.js';
import { toPlant } from '../support/plants.js';

describe('Two copies of the core', () => {
  const importCopy = (module: string) => import(new URL(`../../core/${module}.js?another-copy`, import.meta.url).href);

  it("recognise each other's errors by their code, and no other error", async () => {
    const copy: typeof import('../../core/errors.js') = await importCopy('errors');
    const error = new copy.StorageUnavailable('closed');
    expect(error).not.to.be.instanceOf(StorageUnavailable);
    expect(isStorageUnavailable(error)).to.equal(true);
    expect(isTokenIssuerUnavailable(new copy.TokenIssuerUnavailable('down'))).to.equal(true);
    expect(isTokenIssuerUnavailable(error)).to.equal(false);
    const full = Object.assign(new Error('x'), { code: 'ENOSPC' });
    for (const other of [undefined, 'STORAGE_UNAVAILABLE', { code: 'STORAGE_UNAVAILABLE' }, new Error('x'), full])
      expect(isStorageUnavailable(other)).to.equal(false);
  });

  it("recognise each other's plants", async () => {
    const copy: typeof import('../../core/plant.js') = await importCopy('plant');
    const newPlant = { id: 1n, name: 'Monstera' };
    const result = copy.Plant.from(newPlant);
    expect(result.kind === 'valid' && toPlant(newPlant).equals(result.plant)).to.equal(true);
  });
});
