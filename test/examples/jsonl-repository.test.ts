import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { services } from '../../composition/container.js';
import { type Plant, StorageUnavailable } from '../../core/index.js';
import { JsonlPlantRepository } from '../../docs/examples/jsonl-repository/jsonl-plant-repository.js';
import { plantRepositoryContract } from '../contract/index.js';
import { catchError } from '../support/catch-error.js';
import { toPlant } from '../support/plants.js';
import { readPlants } from '../support/read-plants.js';
import { runContract } from '../support/run-contract.js';
import { startService, TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';

describe('The JSON Lines repository example', () => {
  const folder = temporaryFolder();
  let files = 0;
  const newFile = () => join(folder, `${++files}.jsonl`);

  describe('meets the contract:', () => {
    let path: string;
    runContract(
      plantRepositoryContract({
        open: () => {
          path = newFile();
          return JsonlPlantRepository.open(path);
        },
        reopen: () => {
          // Only one repository can open the file, so this opens a copy if the previous one is not closed.
          const previous = path;
          if (existsSync(`${previous}.lock`)) {
            path = newFile();
            copyFileSync(previous, path);
          }
          return JsonlPlantRepository.open(path);
        },
      }),
    );
  });

  it('recovers from a partial last line of any length', async () => {
    const path = newFile();
    const repository = await JsonlPlantRepository.open(path);
    await repository.add([plant(1n, 'Monstera')]);
    const before = readFileSync(path);
    await repository.add([plant(2n, 'Caña 🌵', 'outdoor')]);
    await repository.close();
    const after = readFileSync(path);
    for (let length = before.length; length < after.length; length++) {
      writeFileSync(path, after.subarray(0, length));
      const reopened = await JsonlPlantRepository.open(path);
      expect(await readNames(reopened), `truncated after ${length} bytes`).to.deep.equal(['Monstera']);
      await reopened.add([plant(3n, 'Ficus')]);
      await reopened.close();
      const again = await JsonlPlantRepository.open(path);
      expect(await readNames(again)).to.deep.equal(['Monstera', 'Ficus']);
      await again.close();
    }
  });

  it('rejects a second open, and names the lock file to remove after a crash', async () => {
    const path = newFile();
    const crashed = await JsonlPlantRepository.open(path);
    await crashed.add([plant(1n, 'Monstera')]);
    const error = await catchError(JsonlPlantRepository.open(path));
    expect(error).to.be.instanceOf(StorageUnavailable);
    expect(error).to.have.property(
      'message',
      `cannot lock ${path} (if no process has it open, remove ${path}.lock): EEXIST`,
    );
    rmSync(`${path}.lock`);
    const repository = await JsonlPlantRepository.open(path);
    expect(await readNames(repository)).to.deep.equal(['Monstera']);
    await repository.close();
    await crashed.close();
  });

  for (const [what, text] of [
    ['not JSON', '["1","Mon\n'],
    ['not a plant', '["1"]\n'],
    ['a plant without an integer id', '["one","Monstera",null]\n'],
  ] as const) {
    it(`rejects a file with a line that is ${what}, and does not change it`, async () => {
      const path = newFile();
      writeFileSync(path, text);
      const error = await catchError(JsonlPlantRepository.open(path));
      expect(error).to.be.instanceOf(StorageUnavailable);
      expect(error).to.have.property('message', `cannot open ${path}: the file contains an invalid line`);
      expect(readFileSync(path, 'utf8')).to.equal(text);
      expect(existsSync(`${path}.lock`)).to.equal(false);
    });
  }

  it('is bound to the service with one line', async () => {
    const path = newFile();
    const repository = await JsonlPlantRepository.open(path);
    const service = await startService({}, (container) => {
      container.rebind(services.Storage).toConstantValue(repository);
    });
    const response = await fetch(`http://127.0.0.1:${service.port}/plants`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
      body: '{"id":9223372036854775807,"name":"Monstera"}',
    });
    expect(response.status).to.equal(200);
    expect(readFileSync(path, 'utf8')).to.equal('["9223372036854775807","Monstera",null]\n');
    await service.stop();
  });
});

function plant(id: bigint, name: string, tag?: string): Plant {
  return toPlant({ id, name, tag });
}

async function readNames(repository: JsonlPlantRepository): Promise<string[]> {
  return (await readPlants(repository.readAll())).map(({ name }) => name);
}
