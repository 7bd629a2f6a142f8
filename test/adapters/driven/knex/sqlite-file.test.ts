import { linkSync, mkdirSync, symlinkSync, unlinkSync } from 'node:fs';
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

  it('has one name, but symbolic links may lead to it', async () => {
    const [path, link] = [join(folder, 'linked.db'), join(folder, 'link.db')];
    await openSqlite({ path }).then((storage) => storage.close());
    linkSync(path, link);
    for (const readOnly of [false, true]) {
      const error = await catchError(openSqlite({ path: link, readOnly }));
      expect(`${error}`).to.match(/link\.db: it has another hard link, .*; remove the link$/);
    }
    unlinkSync(link);
    symlinkSync(path, link);
    await openSqlite({ path: link }).then((storage) => storage.close());
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
