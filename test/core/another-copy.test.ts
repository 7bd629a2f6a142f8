import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import { CreatePlant, isPlantStoreError, StorageUnavailable } from '../../core/index.js';

// In a separate file, because a bundle contains each module once.
describe('Two copies of the core', () => {
  const importCopy = (module: string) => import(new URL(`../../core/${module}.js?another-copy`, import.meta.url).href);

  it("recognise each other's errors by their code", async () => {
    const errors: typeof import('../../core/errors.js') = await importCopy('errors');
    const error = new errors.StorageUnavailable('closed');
    expect(error).not.to.be.instanceOf(StorageUnavailable);
    expect(isPlantStoreError(error)).to.equal(true);
    expect(isPlantStoreError(error, 'TOKEN_ISSUER_UNAVAILABLE', 'STORAGE_UNAVAILABLE')).to.equal(true);
    expect(isPlantStoreError(error, 'TOKEN_ISSUER_UNAVAILABLE')).to.equal(false);
    expect(isPlantStoreError(new errors.TokenIssuerUnavailable('down'))).to.equal(true);
  });

  it("recognise each other's plants", async () => {
    const { Plant }: typeof import('../../core/plant.js') = await importCopy('plant');
    const newPlant = { id: 1n, name: 'Monstera' };
    const result = Plant.from(newPlant);
    const holder = result.kind === 'valid' ? result.plant : expect.fail('an invalid plant');
    const repository = new MemoryPlantRepository();
    repository.add = async () => [{ kind: 'taken', holder }];
    expect(await new CreatePlant(repository).execute(newPlant)).to.have.property('kind', 'already-stored');
  });

  it('do not mistake other errors for their own', () => {
    const full = Object.assign(new Error('x'), { code: 'ENOSPC' });
    for (const other of [undefined, 'STORAGE_UNAVAILABLE', { code: 'STORAGE_UNAVAILABLE' }, new Error('x'), full])
      expect(isPlantStoreError(other)).to.equal(false);
  });
});
