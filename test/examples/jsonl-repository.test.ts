import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { StorageUnavailable } from '../../core/index.js';
import { JsonlPlantRepository } from '../../docs/examples/jsonl-repository/jsonl-plant-repository.js';
import { plantRepositoryContract } from '../contract/index.js';
import { catchError } from '../support/catch-error.js';
import { toPlant } from '../support/plants.js';
import { readPlants } from '../support/read-plants.js';
import { runContract } from '../support/run-contract.js';
import { temporaryFolder } from '../support/temporary.js';

describe('The JSON Lines repository example', () => {
  const folder = temporaryFolder();
  let files = 0;
  const newFile = () => join(folder, `${++files}.jsonl`);

  describe('meets the contract:', () => {
    let path: string;
    const open = () => {
      path = newFile();
      return JsonlPlantRepository.open(path);
    };
    // Only one repository can open a file, so this opens a copy, as after a crash.
    const reopen = () => {
      const previous = path;
      path = newFile();
      copyFileSync(previous, path);
      return JsonlPlantRepository.open(path);
    };
    runContract(plantRepositoryContract({ open, reopen }));
  });

  it('recovers from a partial last line of any length', async () => {
    const path = newFile();
    const addAndRead = async (id: bigint, name: string) => {
      const repository = await JsonlPlantRepository.open(path);
      await repository.add([toPlant({ id, name })]);
      const plants = await readPlants(repository.readAll());
      await repository.close();
      return plants.map((plant) => plant.name);
    };
    await addAndRead(1n, 'Monstera');
    const before = readFileSync(path);
    await addAndRead(2n, 'Caña 🌵');
    const after = readFileSync(path);
    for (let length = before.length; length < after.length; length++) {
      writeFileSync(path, after.subarray(0, length));
      for (let opened = 0; opened < 2; opened++)
        expect(await addAndRead(3n, 'Ficus'), `truncated after ${length} bytes`).to.deep.equal(['Monstera', 'Ficus']);
    }
  });

  it('rejects a second open, and names the lock file to remove after a crash', async () => {
    const path = newFile();
    const crashed = await JsonlPlantRepository.open(path);
    const message = `cannot lock ${path} (if no process has it open, remove ${path}.lock): EEXIST`;
    await expectCannotOpen(path, message);
    rmSync(`${path}.lock`);
    await (await JsonlPlantRepository.open(path)).close();
    await crashed.close();
  });

  it('rejects a file with a line that is no plant, and does not change it', async () => {
    for (const text of ['["1","Mon\n', '["1"]\n', '["one","Monstera",null]\n']) {
      const path = newFile();
      writeFileSync(path, text);
      await expectCannotOpen(path, `cannot open ${path}: the file contains an invalid line`);
      expect(readFileSync(path, 'utf8')).to.equal(text);
      expect(existsSync(`${path}.lock`)).to.equal(false);
    }
  });

  async function expectCannotOpen(path: string, message: string): Promise<void> {
    const error = await catchError(JsonlPlantRepository.open(path));
    expect(error).to.be.instanceOf(StorageUnavailable).with.property('message', message);
  }
});
