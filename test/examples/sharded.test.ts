import { join } from 'node:path';
import { openSqlite } from '@plant-store/adapters/knex';
import { plantRepositoryContract } from '@plant-store/contract';
import { describe } from 'mocha';
import { ShardedPlantRepository } from '../../docs/examples/sharded/sharded-plant-repository.js';
import { runContract } from '../support/run-contract.js';
import { temporaryFolder } from '../support/temporary.js';

describe('ShardedPlantRepository over three SQLite files meets the contract:', () => {
  const folder = temporaryFolder();
  let stores = 0;
  const reopen = async () => {
    const paths = ['a', 'b', 'c'].map((name) => join(folder, `${stores}${name}.db`));
    return new ShardedPlantRepository(await Promise.all(paths.map((path) => openSqlite({ path }))));
  };
  const open = () => {
    stores++;
    return reopen();
  };
  runContract(plantRepositoryContract({ open, reopen, openAnother: reopen }));
});
