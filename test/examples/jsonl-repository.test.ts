import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readPlants } from '#contract/repository-checks.js';
import { JsonlPlantRepository } from '../../docs/examples/jsonl-repository/jsonl-plant-repository.js';
import { toPlant } from '../support/plants.js';
import { temporaryFolder } from '../support/temporary.js';

// packages.test.ts runs the contract, with the program in docs/adapters.md.
describe('The JSON Lines repository example', () => {
  const path = join(temporaryFolder(), 'plants.jsonl');

  it('recovers from a partial last line of any length', async () => {
    const addAndRead = async (id: bigint, name: string) => {
      const repository = await JsonlPlantRepository.open(path);
      await repository.add([toPlant({ id, name })]);
      const plants = await readPlants(repository);
      await repository.close();
      return plants.map((plant) => plant.name);
    };
    await addAndRead(1n, 'Monstera');
    const { length: intact } = readFileSync(path);
    await addAndRead(2n, 'Caña 🌵');
    const whole = readFileSync(path);
    for (let length = intact; length < whole.length; length++) {
      writeFileSync(path, whole.subarray(0, length));
      for (const names of [await addAndRead(3n, 'Ficus'), await addAndRead(3n, 'Ficus')])
        expect(names, `truncated after ${length} bytes`).to.deep.equal(['Monstera', 'Ficus']);
    }
  });
});
