import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { CreatePlant, isPlantStoreError, type Plant, StorageUnavailable } from '../../core/index.js';

// In a separate file, because a bundle contains each module once.
describe('Two copies of the core', () => {
  const importCopy = (module: string) => import(new URL(`../../core/${module}.js?another-copy`, import.meta.url).href);
  let errors: typeof import('../../core/errors.js');
  let plants: typeof import('../../core/plant.js');
  before(async () => {
    errors = await importCopy('errors');
    plants = await importCopy('plant');
  });

  it("recognise each other's errors by their code", () => {
    const classes = [errors.StorageUnavailable, errors.TokenIssuerUnavailable, errors.PlantRejected];
    const codes = ['STORAGE_UNAVAILABLE', 'TOKEN_ISSUER_UNAVAILABLE', 'PLANT_REJECTED'];
    const all = classes.map((Class) => new Class('closed'));
    expect(all.map(({ code }) => code)).to.deep.equal(codes);
    expect(all.every((each) => isPlantStoreError(each))).to.equal(true);
    const [error] = all;
    expect(error).not.to.be.instanceOf(StorageUnavailable);
    expect(isPlantStoreError(error, 'PLANT_REJECTED', 'STORAGE_UNAVAILABLE')).to.equal(true);
    expect(isPlantStoreError(error, 'PLANT_REJECTED')).to.equal(false);
  });

  it("recognise each other's plants", async () => {
    const newPlant = { id: 1n, name: 'Monstera' };
    const result = plants.Plant.from(newPlant);
    const holder: Plant | undefined = result.kind === 'valid' ? result.plant : undefined;
    const repository = { add: async () => [{ kind: 'taken', holder }], readAll: async function* () {} };
    const outcome = await Reflect.construct(CreatePlant, [repository]).execute(newPlant);
    expect(outcome).to.have.property('kind', 'already-stored');
  });

  it('do not mistake other errors for their own', () => {
    const full = Object.assign(new Error('x'), { code: 'ENOSPC' });
    for (const other of [undefined, 'STORAGE_UNAVAILABLE', { code: 'STORAGE_UNAVAILABLE' }, new Error('x'), full])
      expect(isPlantStoreError(other)).to.equal(false);
  });
});
