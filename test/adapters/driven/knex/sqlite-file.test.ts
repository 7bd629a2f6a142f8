import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '@plant-store/adapters/knex';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../../../support/catch-error.js';
import { temporaryFolder } from '../../../support/temporary.js';

describe('A SQLite file', () => {
  const folder = temporaryFolder();

  it('is neither a folder nor a device', async () => {
    for (const path of [folder, '/dev/null']) {
      const error = await catchError(openSqlite({ path }));
      expect(`${error}`).to.match(/: cannot open sqlite:\/.*: it is a folder or a device, not a file$/);
    }
  });

  it('needs a folder, which the error names, also if the file is only read', async () => {
    const path = join(folder, 'no/plants.db');
    for (const readOnly of [false, true]) {
      const error = await catchError(openSqlite({ path, readOnly }));
      expect(`${error}`).to.match(/: cannot open sqlite:.*plants\.db: \/.*\/no is missing$/);
    }
    mkdirSync(join(folder, 'no'));
    const storage = await openSqlite({ path, readOnly: true });
    await storage.close();
  });
});
