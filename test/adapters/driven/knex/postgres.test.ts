import { openPostgres } from '@plant-store/adapters/knex';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { postgres } from '#adapters/driven/knex/postgres.js';
import { readPlants } from '#contract/repository-checks.js';
import { catchError } from '../../../support/catch-error.js';
import { postgresEngine } from '../../../support/engines.js';
import { toPlant } from '../../../support/plants.js';

const PLANTS = [toPlant({ id: 1n, name: 'Aloe' })];

describe('PostgreSQL', () => {
  const stores = postgresEngine.stores();

  it('warns about a table that is not logged, and of settings that are not durable, or hide it', async () => {
    const store = await stores.create();
    await stores.open(store);
    await store.run('ALTER TABLE plants SET UNLOGGED');
    for (const [setting, warning] of [
      ['synchronous_commit=on', 'the table plants is not logged'],
      ['synchronous_commit=off', 'synchronous_commit=off, the table plants is not logged'],
      ['client_min_messages=error', 'client_min_messages=error, the table plants is not logged'],
    ]) {
      const { warnings } = await stores.open({ url: `${store.url}+-c+${setting}` });
      expect(warnings).to.have.lengthOf(1);
      expect(warnings[0]).to.match(RegExp(`may lose them: ${warning}$`));
    }
  });

  it('never hides a row by row-level security', async () => {
    const store = await stores.create();
    await stores.open(store);
    const user = await stores.createUser(store);
    const storage = await stores.open(user);
    await storage.add(PLANTS);
    await store.run('ALTER TABLE plants ENABLE ROW LEVEL SECURITY');
    await store.run('CREATE POLICY adding ON plants FOR INSERT WITH CHECK (true)');
    for (const call of [() => storage.add(PLANTS), () => readPlants(storage)])
      expect(await catchError(call())).to.have.nested.property('cause.code', '42501');
    const error = await catchError(stores.open(user));
    expect(`${error}`).to.match(/cannot keep every plant: row-level security hides rows$/);
  });

  it('rejects a database whose encoding would change names', async () => {
    const store = await stores.create();
    const name = `plant_store_encoding_${process.pid}`;
    await store.run(`CREATE DATABASE ${name} ENCODING 'EUC_JP' LOCALE 'C' TEMPLATE template0`);
    const url = Object.assign(new URL(postgresEngine.url), { pathname: `/${name}` }).href;
    const error = await catchError(openPostgres({ url }));
    await store.run(`DROP DATABASE ${name}`);
    expect(`${error}`).to.match(/cannot keep every plant: the encoding of the database is EUC_JP, not UTF8$/);
  });
});

it('PostgreSQL tells conflicts, after which a write is repeated, and rejected plants from failures', () => {
  for (const [code, kind] of [
    ['40P01', 'busy'], // A deadlock.
    ['55P03', 'busy'], // A lock that is not available.
    ['54000', 'rejected'], // A name that is too long for an index.
    ['P0001', 'rejected'], // A trigger that raises an exception.
    ['57014', 'unavailable'], // A statement that was cancelled.
  ] as const)
    expect(postgres.classify(Object.assign(new Error(), { code })), code).to.equal(kind);
});
