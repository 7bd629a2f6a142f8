import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import { PlantRepositoryDecorator } from '../../core/index.js';
import { readPlants } from '../contract/repository-checks.js';
import { toPlant } from '../support/plants.js';

describe('PlantRepositoryDecorator', () => {
  it('passes each call to the decorated repository', async () => {
    const decorator = new PlantRepositoryDecorator(new MemoryPlantRepository());
    const plant = toPlant({ id: 1n, name: 'Monstera' });
    expect(await decorator.add([plant])).to.deep.equal([{ kind: 'added' }]);
    expect(await readPlants(decorator.readAll())).to.deep.equal([plant]);
  });
});
