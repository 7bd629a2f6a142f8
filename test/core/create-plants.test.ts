import { CreatePlants, type NewPlant, Plant } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../support/catch-error.js';
import { toPlant } from '../support/plants.js';
import { stubRepository } from './stub-repository.js';

const INVALID: NewPlant = { id: 2n ** 63n, name: '\0' };
const [monstera, ficus] = [toPlant({ id: 1n, name: 'Monstera' }), toPlant({ id: 2n, name: 'Ficus' })];

describe('CreatePlants', () => {
  it('adds the valid plants with one call, and returns one outcome per plant, in order', async () => {
    const repository = stubRepository([{ kind: 'added' }, { kind: 'conflict', stored: ficus }]);
    const outcomes = await new CreatePlants(repository).execute([INVALID, monstera, INVALID, ficus]);
    expect(outcomes).to.deep.equal([
      Plant.from(INVALID),
      { kind: 'created', plant: monstera },
      Plant.from(INVALID),
      { kind: 'already-stored', plant: ficus },
    ]);
    expect(repository.batches).to.deep.equal([[monstera, ficus]]);
  });

  it('does not call the repository if no plant is valid', async () => {
    const repository = stubRepository([]);
    expect(await new CreatePlants(repository).execute([INVALID])).to.deep.equal([Plant.from(INVALID)]);
    expect(repository.batches).to.deep.equal([]);
  });

  it('throws TypeError when the repository returns too few outcomes', async () => {
    const createPlants = new CreatePlants(stubRepository([{ kind: 'added' }]));
    const error = await catchError(createPlants.execute([monstera, ficus]));
    expect(error).to.be.instanceOf(TypeError).with.property('message').that.includes('one outcome per plant');
  });
});
