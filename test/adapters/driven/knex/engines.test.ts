import { plantRepositoryContract } from '@plant-store/contract';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { waitForLock } from '../../../support/database-servers.js';
import { enginesOfTier, openStore, sqliteEngine, type TestStore } from '../../../support/engines.js';
import { toPlant } from '../../../support/plants.js';
import { runContract } from '../../../support/run-contract.js';

const PLANTS = [1n, 2n].map((id) => toPlant({ id, name: `plant ${id}` }));
const POISON = toPlant({ id: 7_000_001n, name: 'poison', tag: 'secret' });

describe('A SQL repository', () => {
  for (const engine of enginesOfTier) {
    describe(engine.name, () => {
      const stores = engine.stores();

      describe('meets the contract:', () => {
        let store: TestStore;
        // Many calls at once take long on a busy machine.
        const reopen = () => openStore(store.url, { timeoutMs: 60_000 });
        const openNew = async () => {
          store = await stores.create();
          const storage = await reopen();
          await store.run(engine.rejectPoison);
          return storage;
        };
        runContract(
          plantRepositoryContract({ open: openNew, reopen, openAnother: reopen, rejectedPlant: () => POISON }),
        );
      });

      describe('meets the contract in outages:', () => {
        let store: Awaited<ReturnType<typeof stores.createFragile>>;
        // Each call waits for SQLite's lock as long. Long enough to open the file on a busy machine.
        const timeoutMs = engine === sqliteEngine ? 500 : 10_000;
        const reopen = () => openStore(store.url, { timeoutMs });
        const outages = plantRepositoryContract({
          open: async () => {
            store = await stores.createFragile();
            return reopen();
          },
          reopen,
          whileUnavailable: (work) => store.whileUnavailable(work),
        });
        runContract(outages, (group) => group.includes('outages'));
      });

      if (engine !== sqliteEngine)
        it('repeats a write that the server ends because of a deadlock', async () => {
          const store = await stores.create();
          const storage = await stores.open(store);
          const other = await (await stores.open(store)).knex.transaction();
          // More rows than the write, because MariaDB ends the smaller transaction.
          await other('plants').insert([2, 3, 4, 5].map((id) => ({ id, name: 'x' })));
          const adding = storage.add(PLANTS);
          await waitForLock(storage.knex);
          await other('plants').insert({ id: 1, name: 'x' });
          await other.rollback();
          expect(await adding).to.deep.equal(PLANTS.map(() => ({ kind: 'added' })));
        });
    });
  }
});
