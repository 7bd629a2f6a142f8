import { Readable } from 'node:stream';
import { JsonPlantCodec } from '@plant-store/adapters/api';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { exportPlants, importPlants } from '@plant-store/adapters/ndjson';
import { CreatePlants, MAX_PLANT_ID, MIN_PLANT_ID, ReadPlants } from '@plant-store/core';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { readPlants } from '#contract/repository-checks.js';
import { newPlant, storableText } from '../../../support/texts.js';

describe('exportPlants', () => {
  it('writes an export that imports to an identical store', async () => {
    const text = fc.oneof(storableText(), fc.constantFrom('\n', '\r\n', '\u2028', '\ufeff', '"\\', '__proto__'));
    const plant = newPlant(fc.bigInt({ min: MIN_PLANT_ID, max: MAX_PLANT_ID }), text);
    const newPlants = fc.uniqueArray(plant, { selector: ({ id }) => id, maxLength: 50 });
    const codec = new JsonPlantCodec();
    const onReject = (rejected: object) => expect.fail(JSON.stringify(rejected));
    await fc.assert(
      fc.asyncProperty(newPlants, async (plants) => {
        const [from, to] = [new MemoryPlantRepository(), new MemoryPlantRepository()];
        await new CreatePlants(from).execute(plants);
        const exported = Readable.from(exportPlants(new ReadPlants(from), codec)).map(Buffer.from);
        await importPlants(exported, { createPlants: new CreatePlants(to), codec, bodyLimitBytes: 10_000, onReject });
        expect(await readPlants(to)).to.deep.equal(await readPlants(from));
      }),
      { numRuns: 300 },
    );
  });
});
