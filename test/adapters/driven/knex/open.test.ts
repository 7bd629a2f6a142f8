import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { openSqlite } from '@plant-store/adapters/knex';
import { isStorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../../../support/catch-error.js';
import { sqliteEngine } from '../../../support/engines.js';

describe('Opening a database', () => {
  const stores = sqliteEngine.stores();

  it('returns its name with the whole path, and what an operator should know', async () => {
    const { path } = await stores.create();
    const storage = await openSqlite({ path: relative('.', path) });
    const { name, driver, maxWrites, warning } = storage;
    expect({ name, maxWrites, warning }).to.deep.equal({ name: `sqlite:${path}`, maxWrites: 1, warning: undefined });
    expect(driver).to.be.oneOf(['sqlite3', 'node:sqlite']);
    await storage.close();
  });

  it('fails with the reason and the codes of the driver, such as for a file that is no database', async () => {
    const { path } = await stores.create();
    writeFileSync(path, 'x'.repeat(1000));
    const error = await catchError(openSqlite({ path }));
    expect(isStorageUnavailable(error)).to.equal(true);
    expect(`${error}`).to.match(/: cannot open sqlite:.*\.db: .*file is not a database$/);
    const SQLITE_NOTADB = 26;
    expect(error).to.have.nested.property('cause.errno', SQLITE_NOTADB);
  });
});
