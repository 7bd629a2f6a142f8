import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../../../adapters/driven/memory/index.js';
import { exportPlants } from '../../../../adapters/driving/ndjson/index.js';
import { CreatePlant, MAX_PLANT_ID, MIN_PLANT_ID, ReadPlants } from '../../../../core/index.js';
import { plantLines, toPlant } from '../../../support/plants.js';
import { readPlants } from '../../../support/read-plants.js';
import { newPlant, storableText } from '../../../support/texts.js';
import { codec, exportToText, importInto } from './support.js';

const text = fc.oneof(
  storableText(),
  fc.constantFrom('', ' ', '\n', '\r\n', '\u2028', '\ufeff', '"\\', 'é', 'e\u0301', '\u{10ffff}', '__proto__'),
);
const id = fc.oneof(
  fc.bigInt({ min: MIN_PLANT_ID, max: MAX_PLANT_ID }),
  fc.constantFrom(MIN_PLANT_ID, MAX_PLANT_ID, 0n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n),
);
const newPlants = fc.uniqueArray(newPlant(id, text), { selector: (plant) => plant.id, maxLength: 50 });

describe('exportPlants', () => {
  it('writes an export that imports to an identical store, in any chunks', async () => {
    await fc.assert(
      fc.asyncProperty(newPlants, fc.integer({ min: 1, max: 100 }), async (plants, chunkBytes) => {
        const from = new MemoryPlantRepository();
        await new CreatePlant(from).executeAll(plants);
        const whole = Buffer.from(await exportToText(from));
        const chunks = Array.from({ length: Math.ceil(whole.length / chunkBytes) }, (_, index) =>
          whole.subarray(index * chunkBytes, (index + 1) * chunkBytes),
        );

        const to = new MemoryPlantRepository();
        const { summary, rejects } = await importInto(to, chunks, { maxLineBytes: 100_000 });
        expect(rejects).to.deep.equal([]);
        expect(summary).to.include({ created: plants.length, bytes: whole.length });
        expect(await exportToText(to)).to.equal(`${whole}`);

        const stored = await readPlants(to.readAll());
        const ascending = [...plants].sort((a, b) => (a.id < b.id ? -1 : 1));
        expect(stored).to.deep.equal(ascending.map(toPlant));
      }),
      { numRuns: 300 },
    );
  });

  it('reports the number of plants written', async () => {
    const repository = new MemoryPlantRepository();
    await importInto(repository, plantLines(1, 2500));
    const counts: number[] = [];
    for await (const chunk of exportPlants(new ReadPlants(repository), codec, (count) => counts.push(count))) {
      expect(chunk).to.match(/\n$/);
    }
    expect(counts.at(-1)).to.equal(2500);
  });
});
