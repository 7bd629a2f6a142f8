import { ReadPlants } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { fitsStatement, TEXTS } from '#adapters/driven/knex/rows.js';
import { enginesOfTier } from '../../../support/engines.js';
import { toPlant } from '../../../support/plants.js';

it('A statement has a limit for the text of every field', () => {
  for (const field of Object.keys(TEXTS)) {
    const plants = [1n, 2n].map((id) => toPlant({ id, name: '', [field]: 'x'.repeat(600_000) }));
    expect(fitsStatement(plants), field).to.equal(false);
  }
});

describe('The rows of a store', () => {
  for (const engine of enginesOfTier) {
    describe(engine.name, () => {
      const stores = engine.stores();

      it('ends a page with the plant that reaches a megabyte', async () => {
        const storage = await stores.open(await stores.create());
        const name = '🌱'.repeat(100 * 1024);
        const names = [...Array(8).fill(name), name.repeat(4), name.repeat(4)];
        await storage.add(names.map((each, id) => toPlant({ id: BigInt(id), name: each })));
        const pages: number[][] = [];
        for await (const page of new ReadPlants(storage).execute()) pages.push(page.map(({ id }) => Number(id)));
        expect(pages).to.deep.equal([[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]);
      });
    });
  }
});
