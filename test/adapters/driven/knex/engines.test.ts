import { plantRepositoryContract } from '@plant-store/contract';
import { after, describe } from 'mocha';
import { enginesOfTier, openStore, sqliteEngine, type TestStore } from '../../../support/engines.js';
import { FaultyProxy } from '../../../support/faulty-proxy.js';
import { toPlant } from '../../../support/plants.js';
import { runContract } from '../../../support/run-contract.js';
import { SqliteFile } from '../../../support/sqlite-file.js';

const POISON = toPlant({ id: 7_000_001n, name: 'poison', tag: 'secret' });

describe('A SQL repository', () => {
  for (const engine of enginesOfTier) {
    describe(engine.name, () => {
      const stores = engine.stores();

      describe('meets the contract:', () => {
        let store: TestStore;
        // Many calls at once take long on a busy machine.
        const reopen = () => openStore(store.url, { timeoutMs: 60_000 });
        const open = async () => {
          store = await stores.create();
          const storage = await reopen();
          // A connection of the test's own would have a timer of its own.
          await storage.knex.raw(engine.rejectPoison);
          return storage;
        };
        runContract(plantRepositoryContract({ open, reopen, openAnother: reopen, rejectedPlant: () => POISON }));
      });

      describe('meets the contract in outages:', () => {
        let url: string;
        let proxy: FaultyProxy | undefined;
        after(() => proxy?.refuseConnections());
        // Each call waits for SQLite's lock as long. Long enough to open the file on a busy machine.
        const timeoutMs = engine === sqliteEngine ? 500 : 10_000;
        const reopen = () => openStore(url, { timeoutMs });
        const open = async () => {
          ({ url } = await stores.create());
          if (engine !== sqliteEngine) {
            proxy ??= await FaultyProxy.to(url);
            url = proxy.toProxiedUrl(url);
          }
          return reopen();
        };
        const whileUnavailable = async (work: () => Promise<unknown>) => {
          const other = proxy ? undefined : await SqliteFile.open(url.replace('sqlite:', ''));
          await other?.exec('BEGIN EXCLUSIVE');
          await proxy?.refuseConnections();
          await work().finally(() => other?.close() ?? proxy?.restore());
        };
        const contract = plantRepositoryContract({ open, reopen, whileUnavailable });
        runContract(contract, (group) => group.includes('outages'));
      });
    });
  }
});
