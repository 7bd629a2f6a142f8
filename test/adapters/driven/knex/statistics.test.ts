import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { openRepository, sqliteDatabase } from '../../../../adapters/driven/knex/index.js';
import { toPlant } from '../../../support/plants.js';
import { SqliteFile } from '../../../support/sqlite-file.js';
import { temporaryFolder } from '../../../support/temporary.js';
import { waitUntil } from '../../../support/wait-until.js';

describe('A SQL repository reports at any time', () => {
  const folder = temporaryFolder();

  it('the connections in use, and the statements that wait for one', async () => {
    const path = join(folder, 'pool.db');
    const repository = await openRepository(sqliteDatabase({ path, timeoutMs: 10_000 }));
    const other = await SqliteFile.open(path);
    await other.exec('BEGIN IMMEDIATE');
    const adding = [1n, 2n].map((id) => repository.add([toPlant({ id, name: 'Monstera' })]));
    const { pool } = repository.statistics;
    await waitUntil('one of the statements waits', async () => pool?.inUse === 1 && pool.pending === 1);
    await other.exec('ROLLBACK');
    await Promise.all(adding);
    expect({ ...pool }).to.deep.equal({ inUse: 0, pending: 0, max: 1 });
    await Promise.all([repository.close(), other.close()]);
  });

  it('the sizes of its SQLite file and of the write-ahead log', async () => {
    const path = join(folder, 'files.db');
    const repository = await openRepository(sqliteDatabase({ path, timeoutMs: 10_000 }));
    await repository.add([toPlant({ id: 1n, name: 'x'.repeat(100_000) })]);
    const { files } = repository.statistics;
    expect({ ...files }).to.deep.equal({
      sizeBytes: statSync(path).size,
      logSizeBytes: statSync(`${path}-wal`).size,
    });
    expect(files?.logSizeBytes).to.be.above(100_000);
    await repository.close();
    expect(files?.sizeBytes).to.be.above(100_000);
    expect(files?.logSizeBytes).to.equal(0);
  });
});
