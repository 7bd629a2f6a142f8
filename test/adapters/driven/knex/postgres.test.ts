import { openPostgres } from '@plant-store/adapters/knex';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../../../support/catch-error.js';
import { databasesOn, postgresServer } from '../../../support/database-servers.js';

describe('PostgreSQL', () => {
  const databases = databasesOn(postgresServer);

  it('warns about a table that is not logged', async () => {
    const url = await databases.create();
    await openPostgres({ url }).then((storage) => storage.close());
    await databases.connect(url).raw('ALTER TABLE plants SET UNLOGGED');
    const storage = await openPostgres({ url });
    expect(storage.warning).to.match(/may lose them: the table plants is not logged$/);
    await storage.close();
  });

  it('warns about settings that are not durable, or hide it', async () => {
    for (const setting of ['synchronous_commit=off', 'client_min_messages=error']) {
      const url = new URL(await databases.create());
      url.searchParams.set('options', `${url.searchParams.get('options')} -c ${setting}`);
      const storage = await openPostgres({ url: url.href });
      expect(storage.warning).to.match(RegExp(`may lose them: ${setting}$`));
      await storage.close();
    }
  });

  it('rejects a database whose encoding would change names', async () => {
    const admin = databases.connect();
    const name = `plant_store_encoding_${process.pid}`;
    await admin.raw(`CREATE DATABASE ${name} ENCODING 'EUC_JP' LOCALE 'C' TEMPLATE template0`);
    try {
      const url = Object.assign(new URL(postgresServer.url), { pathname: `/${name}` }).href;
      const error = await catchError(openPostgres({ url }));
      expect(`${error}`).to.match(/cannot store plants: the encoding of the database is EUC_JP, not UTF8$/);
    } finally {
      await admin.raw(`DROP DATABASE ${name}`);
    }
  });
});
