import { openPostgres } from '@plant-store/adapters/knex';
import { expect } from 'chai';
import { describe, it } from 'mocha';
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

  for (const { title, setting } of [
    { title: 'warns about synchronous_commit=off', setting: 'synchronous_commit=off' },
    { title: 'warns about client_min_messages=error', setting: 'client_min_messages=error' },
  ]) {
    it(title, async () => {
      const url = new URL(await databases.create());
      url.searchParams.set('options', `${url.searchParams.get('options')} -c ${setting}`);
      const storage = await openPostgres({ url: url.href });
      expect(storage.warning).to.match(RegExp(`may lose them: ${setting}$`));
      await storage.close();
    });
  }
});
