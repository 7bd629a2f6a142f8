import { CreatePlants, type NewPlant, Plant } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../support/catch-error.js';
import { toPlant } from '../support/plants.js';
import { StubRepository } from './stub-repository.js';

const MONSTERA: NewPlant = { id: 1n, name: 'Monstera', tag: 'indoor' };
const FICUS: NewPlant = { id: 2n, name: 'Ficus' };
const INVALID: NewPlant = { id: 2n ** 63n, name: '\0' };
const [monstera, ficus] = [toPlant(MONSTERA), toPlant(FICUS)];

describe('CreatePlants', () => {
  it('adds the valid plants with one call, and returns one outcome per plant, in order', async () => {
    const repository = new StubRepository([
      { kind: 'added' },
      { kind: 'conflict', stored: ficus },
      { kind: 'conflict', stored: ficus },
    ]);
    const changed = { ...FICUS, name: 'Monstera' };
    const outcomes = await new CreatePlants(repository).execute([INVALID, MONSTERA, FICUS, INVALID, changed]);
    expect(outcomes).to.deep.equal([
      Plant.from(INVALID),
      { kind: 'created', plant: monstera },
      { kind: 'already-stored', plant: ficus },
      Plant.from(INVALID),
      { kind: 'id-conflict' },
    ]);
    expect(repository.batches).to.deep.equal([[monstera, ficus, toPlant(changed)]]);
  });

  it('does not call the repository if no plant is valid', async () => {
    const repository = new StubRepository([]);
    const createPlants = new CreatePlants(repository);
    expect(await createPlants.execute([INVALID])).to.deep.equal([Plant.from(INVALID)]);
    expect(await createPlants.execute([])).to.deep.equal([]);
    expect(repository.batches).to.deep.equal([]);
  });

  it('throws TypeError when the writer returns too few outcomes', async () => {
    const createPlants = new CreatePlants(new StubRepository([{ kind: 'added' }]));
    const error = await catchError(createPlants.execute([MONSTERA, FICUS]));
    expect(error).to.be.instanceOf(TypeError);
    expect(error).to.have.property('message', 'PlantWriter.add must return one outcome per plant');
  });
});
