import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { CreatePlants, type NewPlant, Plant } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readPlants } from '#contract/repository-checks.js';
import { catchError } from '../support/catch-error.js';
import { toPlant } from '../support/plants.js';

const MONSTERA: NewPlant = { id: 1n, name: 'Monstera', tag: 'indoor' };
const FICUS: NewPlant = { id: 2n, name: 'Ficus' };
const INVALID: NewPlant = { id: 2n ** 63n, name: '\0' };

describe('CreatePlants', () => {
  it('returns one outcome per plant, in order, and stores the created plants with one call', async () => {
    const repository = new MemoryPlantRepository();
    const add = repository.add.bind(repository);
    let calls = 0;
    repository.add = (plants) => {
      calls++;
      return add(plants);
    };
    const changed = { ...MONSTERA, name: 'Ficus' };
    const outcomes = await new CreatePlants(repository).execute([INVALID, MONSTERA, FICUS, INVALID, changed, MONSTERA]);
    expect(outcomes).to.deep.equal([
      Plant.from(INVALID),
      { kind: 'created', plant: toPlant(MONSTERA) },
      { kind: 'created', plant: toPlant(FICUS) },
      Plant.from(INVALID),
      { kind: 'id-conflict' },
      { kind: 'already-stored', plant: toPlant(MONSTERA) },
    ]);
    expect(await readPlants(repository.readAll())).to.deep.equal([MONSTERA, FICUS].map(toPlant));
    expect(calls).to.equal(1);
  });

  it('does not call the storage if no plant is valid', async () => {
    const repository = new MemoryPlantRepository();
    await repository.close();
    const createPlants = new CreatePlants(repository);
    expect(await createPlants.execute([INVALID])).to.deep.equal([Plant.from(INVALID)]);
    expect(await createPlants.execute([])).to.deep.equal([]);
  });

  it('throws TypeError when the repository returns too few outcomes', async () => {
    const repository = new MemoryPlantRepository();
    repository.add = async () => [{ kind: 'added' }];
    const error = await catchError(new CreatePlants(repository).execute([MONSTERA, FICUS]));
    expect(error).to.be.instanceOf(TypeError);
    expect(error).to.have.property('message', 'PlantRepository.add must return one outcome per plant');
  });
});
