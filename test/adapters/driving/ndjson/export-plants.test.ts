import { JsonPlantCodec } from '@plant-store/adapters/api';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { exportPlants, importPlants } from '@plant-store/adapters/ndjson';
import { CreatePlants, MAX_PLANT_ID, MIN_PLANT_ID, ReadPlants } from '@plant-store/core';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { readPlants } from '#contract/repository-checks.js';
import { toPlant } from '../../../support/plants.js';
import { newPlant, storableText } from '../../../support/texts.js';

const text = fc.oneof(
  storableText(),
  fc.constantFrom('', ' ', '\n', '\r\n', '\u2028', '\ufeff', '"\\', 'é', 'e\u0301', '\u{10ffff}', '__proto__'),
);
const id = fc.bigInt({ min: MIN_PLANT_ID, max: MAX_PLANT_ID });
const newPlants = fc.uniqueArray(newPlant(id, text), { selector: (plant) => plant.id, maxLength: 50 });

describe('exportPlants', () => {
  it('writes an export that imports to an identical store', async () => {
    const codec = new JsonPlantCodec();
    await fc.assert(
      fc.asyncProperty(newPlants, async (plants) => {
        const [from, to] = [new MemoryPlantRepository(), new MemoryPlantRepository()];
        await new CreatePlants(from).execute(plants);
        async function* exported() {
          for await (const lines of exportPlants(new ReadPlants(from), codec)) yield Buffer.from(lines);
        }
        const rejects: object[] = [];
        await importPlants(exported(), {
          createPlants: new CreatePlants(to),
          codec,
          bodyLimitBytes: 10_000,
          onReject: (line) => void rejects.push(line),
        });
        expect(rejects).to.deep.equal([]);
        const ascending = [...plants].sort((a, b) => (a.id < b.id ? -1 : 1));
        expect(await readPlants(to.readAll())).to.deep.equal(ascending.map(toPlant));
      }),
      { numRuns: 300 },
    );
  });
});
