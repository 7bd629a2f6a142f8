import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { plantRepositoryContract } from '@plant-store/contract';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readPlants } from '#contract/repository-checks.js';
import { JsonlPlantRepository } from '../../docs/examples/jsonl-repository/jsonl-plant-repository.js';
import { toPlant } from '../support/plants.js';
import { runContract } from '../support/run-contract.js';
import { temporaryFolder } from '../support/temporary.js';

describe('The JSON Lines repository example', () => {
  const folder = temporaryFolder();
  let files = 0;
  let path: string;
  const newFile = () => {
    path = join(folder, `${++files}.jsonl`);
  };
  const open = () => JsonlPlantRepository.open(path);

  describe('meets the contract:', () => {
    // Only one repository can open a file, so this opens a copy, as after a crash.
    const reopen = () => {
      const previous = path;
      newFile();
      copyFileSync(previous, path);
      return open();
    };
    const openNew = () => {
      newFile();
      return open();
    };
    runContract(plantRepositoryContract({ open: openNew, reopen }));
  });

  it('recovers from a partial last line of any length', async () => {
    newFile();
    const addAndRead = async (id: bigint, name: string) => {
      const repository = await open();
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
