import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import { CreatePlant, ReadPlants, StorageUnavailable } from '../../core/index.js';
import { catchError } from '../support/catch-error.js';
import { readPlants } from '../support/read-plants.js';

describe('ReadPlants', () => {
  it('reads every plant, ordered by id', async () => {
    const repository = new MemoryPlantRepository();
    await new CreatePlant(repository).executeAll([3n, -2n, 10n, 0n].map((id) => ({ id, name: `plant ${id}` })));
    const plants = await readPlants(new ReadPlants(repository).execute());
    expect(plants.map(({ id, name }) => ({ id, name }))).to.deep.equal(
      [-2n, 0n, 3n, 10n].map((id) => ({ id, name: `plant ${id}` })),
    );
  });

  it('reads nothing from an empty storage', async () => {
    expect(await readPlants(new ReadPlants(new MemoryPlantRepository()).execute())).to.deep.equal([]);
  });

  it('throws StorageUnavailable when the storage is closed', async () => {
    const repository = new MemoryPlantRepository();
    await repository.close();
    expect(await catchError(readPlants(new ReadPlants(repository).execute()))).to.be.instanceOf(StorageUnavailable);
  });
});
