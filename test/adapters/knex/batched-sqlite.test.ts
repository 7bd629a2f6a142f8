import { join } from 'node:path';
import { describe } from 'mocha';
import { BatchingPlantRepository } from '../../../adapters/batching/index.js';
import { openRepository, sqliteDatabase } from '../../../adapters/knex/index.js';
import { durablePlantRepositoryContract, sharedPlantRepositoryContract } from '../../contract/index.js';
import { runContract } from '../../support/run-contract.js';
import { temporaryFolder } from '../../support/temporary.js';

describe('The batching repository around SQLite meets the contract:', () => {
  const folder = temporaryFolder();
  let files = 0;
  const open = async () =>
    new BatchingPlantRepository(
      await openRepository(sqliteDatabase({ path: join(folder, `${files}.db`), timeoutMs: 10_000 })),
    );
  const harness = {
    open: () => {
      files++;
      return open();
    },
    reopen: open,
    openAnother: open,
  };
  runContract(durablePlantRepositoryContract, harness);
  runContract(sharedPlantRepositoryContract, harness);
});
