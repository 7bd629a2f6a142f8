import { expect } from 'chai';
import { describe, it } from 'mocha';
import { fitsStatement } from '#adapters/driven/knex/rows.js';
import { enginesOfTier } from '../../../support/engines.js';
import { toPlant } from '../../../support/plants.js';

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
        for await (const page of storage.readAll()) pages.push(page.map(({ id }) => Number(id)));
        expect(pages).to.deep.equal([[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]);
      });
    });
  }
});

describe('A statement', () => {
  const fits = (count: number, name: string, tag?: string) =>
    fitsStatement(Array(count).fill(toPlant({ id: 1n, name, tag })));

  it('inserts at most 4000 plants', () => {
    expect(fits(4000, 'Aloe')).to.equal(true);
    expect(fits(4001, 'Aloe')).to.equal(false);
  });

  it('inserts at most a megabyte of names and tags, or one plant', () => {
    const [half, quarter] = ['x'.repeat(512 * 1024), 'x'.repeat(256 * 1024)];
    expect(fits(2, half)).to.equal(true);
    expect(fits(2, `${half}x`)).to.equal(false);
    expect(fits(2, quarter, quarter)).to.equal(true);
    expect(fits(2, quarter, `${quarter}x`)).to.equal(false);
    expect(fits(1, half, half + half)).to.equal(true);
  });
});
