import { expect } from 'chai';
import { it } from 'mocha';
import { StorageUnavailable } from '../../../../core/index.js';
import { conflictCases } from '../../../contract/http/conflicts.js';
import { runHttpContract, storageSuite } from '../http-suite.js';
import { create, newPlant, sharedService, startInTest, stored, verdict, withAdd } from '../support.js';

/** An id belongs to one plant forever. */
storageSuite('id conflicts', (start) => {
  runHttpContract(conflictCases, sharedService(start));
  const startOne = startInTest(start);

  it('leave the stored plant as it is', async () => {
    const service = await startOne();
    for (const name of ['first', 'second']) await create(service, JSON.stringify({ id: 1, name, tag: name }));
    expect(await stored(service)).to.deep.equal([{ id: 1n, name: 'first', tag: 'first' }]);
  });

  it('do not include a retry after 50301: if the plant was stored, it gets 40902', async () => {
    let times = 0;
    const losingFirst = withAdd(async (plants, repository) => {
      const outcomes = await repository.add(plants);
      if (++times === 1) throw new StorageUnavailable('the outcome was lost');
      return outcomes;
    });
    const service = await startOne({}, losingFirst);
    const plant = newPlant();
    expect(verdict(await create(service, plant))).to.equal(50301);
    expect(verdict(await create(service, plant))).to.equal(40902);
  });
});
