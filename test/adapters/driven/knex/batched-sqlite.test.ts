import { join } from 'node:path';
import { describe } from 'mocha';
import { openRepository, sqliteDatabase } from '../../../../adapters/driven/knex/index.js';
import { plantRepositoryContract } from '../../../contract/index.js';
import { batchedStorage } from '../../../support/batched-storage.js';
import { runContract } from '../../../support/run-contract.js';
import { temporaryFolder } from '../../../support/temporary.js';

describe('The batching repository around SQLite meets the contract:', () => {
  const folder = temporaryFolder();
  let files = 0;
  const open = async () =>
    batchedStorage(await openRepository(sqliteDatabase({ path: join(folder, `${files}.db`), timeoutMs: 10_000 })));
  const harness = {
    open: () => {
      files++;
      return open();
    },
    reopen: open,
    openAnother: open,
  };
  runContract(plantRepositoryContract(harness));
});
