import { joinTransaction, openPostgres } from '@plant-store/adapters/knex';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readPlants } from '#contract/repository-checks.js';
import { catchError } from '../../../support/catch-error.js';
import { databasesOn, postgresServer } from '../../../support/database-servers.js';
import { toPlant } from '../../../support/plants.js';

const PLANTS = [toPlant({ id: 1n, name: 'Aloe' })];

describe('PostgreSQL', () => {
  const databases = databasesOn(postgresServer);

  it('warns about a table that is not logged', async () => {
    const url = await databases.create();
    await openPostgres({ url }).then((storage) => storage.close());
    await databases.connect(url).raw('ALTER TABLE plants SET UNLOGGED');
    const storage = await openPostgres({ url });
    expect(storage.warnings[0]).to.match(/may lose them: the table plants is not logged$/);
    await storage.close();
  });

  it('warns about settings that are not durable, or hide it', async () => {
    for (const setting of ['synchronous_commit=off', 'client_min_messages=error']) {
      const url = new URL(await databases.create());
      url.searchParams.set('options', `${url.searchParams.get('options')} -c ${setting}`);
      const storage = await openPostgres({ url: url.href });
      expect(storage.warnings[0]).to.match(RegExp(`may lose them: ${setting}$`));
      await storage.close();
    }
  });

  it('never hides a row by row-level security', async () => {
    const url = await databases.create();
    const [user, schema] = [`plant_store_rows_${process.pid}`, url.replace(/.*search_path%3D/, '')];
    const admin = databases.connect(url);
    await openPostgres({ url }).then((storage) => storage.close());
    await admin.raw(`CREATE ROLE ${user} LOGIN`);
    await admin.raw(`GRANT ALL ON SCHEMA ${schema} TO ${user}`);
    await admin.raw(`GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${user}`);
    try {
      const restricted = Object.assign(new URL(url), { username: user }).href;
      const storage = await openPostgres({ url: restricted });
      await storage.add(PLANTS);
      await admin.raw('ALTER TABLE plants ENABLE ROW LEVEL SECURITY');
      await admin.raw('CREATE POLICY adding ON plants FOR INSERT WITH CHECK (true)');
      const inTransaction = () => storage.knex.transaction((transaction) => joinTransaction(transaction).add(PLANTS));
      for (const call of [() => storage.add(PLANTS), () => readPlants(storage), inTransaction])
        expect(await catchError(call())).to.have.nested.property('cause.code', '42501');
      await storage.close();
      const error = await catchError(openPostgres({ url: restricted }));
      expect(`${error}`).to.match(/cannot keep every plant: row-level security hides rows$/);
    } finally {
      await admin.raw(`DROP OWNED BY ${user}`);
      await admin.raw(`DROP ROLE ${user}`);
    }
  });

  it('rejects a database whose encoding would change names', async () => {
    const admin = databases.connect();
    const name = `plant_store_encoding_${process.pid}`;
    await admin.raw(`CREATE DATABASE ${name} ENCODING 'EUC_JP' LOCALE 'C' TEMPLATE template0`);
    try {
      const url = Object.assign(new URL(postgresServer.url), { pathname: `/${name}` }).href;
      const error = await catchError(openPostgres({ url }));
      expect(`${error}`).to.match(/cannot keep every plant: the encoding of the database is EUC_JP, not UTF8$/);
    } finally {
      await admin.raw(`DROP DATABASE ${name}`);
    }
  });
});
