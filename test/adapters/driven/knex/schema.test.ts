import { existsSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { migrate, readSchema } from '#adapters/driven/knex/schema.js';
import { sqlite } from '#adapters/driven/knex/sqlite.js';
import { readPlants } from '#contract/repository-checks.js';
import { catchError } from '../../../support/catch-error.js';
import { enginesOfTier, openStore, sqliteEngine } from '../../../support/engines.js';
import { toPlant } from '../../../support/plants.js';
import { SqliteFile } from '../../../support/sqlite-file.js';
import { EARLIER_PLANTS, EARLIER_STORES } from './earlier-store.js';
import { tablesOf } from './tables.js';

const PLANT = toPlant({ id: 1n, name: 'Monstera' });
const ADDED = [{ kind: 'added' }];

describe('The schema', () => {
  for (const engine of enginesOfTier) {
    describe(engine.name, () => {
      const stores = engine.stores();
      const { text, ids, texts, accepted } = tablesOf(engine.dialect);

      it('creates the schema once for four instances that start concurrently', async () => {
        const store = await stores.create();
        const instances = await Promise.all([1, 2, 3, 4].map(() => stores.open(store)));
        const plants = instances.map((_, index) => toPlant({ id: BigInt(index), name: `plant ${index}` }));
        const outcomes = await Promise.all(
          instances.map((instance, index) => instance.add(plants.slice(index, index + 1))),
        );
        expect(outcomes.flat()).to.deep.equal(plants.map(() => ({ kind: 'added' })));
        expect(await store.readPlants()).to.have.lengthOf(4);
      });

      it('uses a schema of an earlier version', async () => {
        const store = await stores.create();
        for (const statement of EARLIER_STORES.get(engine.dialect) ?? []) await store.run(statement);
        const storage = await stores.open(store);
        expect(storage.schema).not.to.equal('created');
        expect(await readPlants(storage)).to.deep.equal(EARLIER_PLANTS.map(toPlant));
        expect(await storage.add([PLANT])).to.deep.equal(ADDED);
      });

      it('does not open a table that cannot keep every plant, and says why', async () => {
        const id = 'id BIGINT PRIMARY KEY';
        const [name, tag] = [`name ${text} NOT NULL`, `tag ${text}`];
        const toReason = (column: string, type: string) =>
          RegExp(`every plant: the type of ${column} is ${/\w+/.exec(type)}`, 'i');
        const tables: readonly (readonly [columns: readonly string[], reason: RegExp])[] = [
          [
            ['number INTEGER'],
            /every plant: id is missing, name is missing, tag is missing, its primary key is not id$/,
          ],
          [['id BIGINT', name, tag], /every plant: its primary key is not id$/],
          [['id BIGINT', 'number INTEGER', name, tag, 'PRIMARY KEY (id, number)'], /: its primary key is not id/],
          [[id, `name ${text}`, tag], /every plant: name may be NULL$/],
          [[id, name, `${tag} NOT NULL`], /every plant: tag \(\w*text.*\) must have a value$/i],
          [[id, name, tag, 'pots BIGINT NOT NULL'], /every plant: pots \(bigint.*\) must have a value$/i],
          ...ids.map((type) => [[`id ${type} PRIMARY KEY`, name, tag], toReason('id', type)] as const),
          ...texts.map((type) => [[id, `name ${type} NOT NULL`, tag], toReason('name', type)] as const),
          ...texts.map((type) => [[id, name, `tag ${type}`], toReason('tag', type)] as const),
        ];
        for (const [columns, reason] of tables) {
          const store = await stores.create();
          await store.run(`CREATE TABLE plants (${columns})`);
          for (const readOnly of [false, true])
            expect(`${await catchError(openStore(store.url, { readOnly }))}`, `${columns}`).to.match(reason);
        }
      });

      it('opens a table of other types that keeps every plant', async () => {
        const plants = EARLIER_PLANTS.map(toPlant);
        for (const statements of accepted) {
          const store = await stores.create();
          for (const statement of statements) await store.run(statement);
          const storage = await stores.open(store);
          expect(await storage.add(plants)).to.deep.equal(plants.map(() => ({ kind: 'added' })));
          expect(await readPlants(storage)).to.deep.equal(plants);
        }
      });

      it('has pending migrations if only the table of plants was restored', async () => {
        const store = await stores.create();
        await openStore(store.url).then((storage) => storage.close());
        await store.run('DROP TABLE plant_store_migrations');
        const restored = await stores.open(store, { readOnly: true });
        expect(restored.schema).to.equal('pending');
        expect(await stores.open(store)).to.have.property('schema', 'created');
      });

      it('migrates the schema in several statements, also after a crash between them', async () => {
        const storage = await stores.open(await stores.create());
        const statements = [
          'CREATE TABLE IF NOT EXISTS beds (id INTEGER)',
          'CREATE TABLE IF NOT EXISTS sites (id INTEGER)',
        ];
        const withMigration = (...added: readonly string[]) => {
          return { ...engine.dialect, migrations: { ...engine.dialect.migrations, '900_sites': added } };
        };
        const migrateBy = (...added: readonly string[]) => migrate(storage.knex, withMigration(...added));
        const pending = await readSchema(storage.knex, withMigration());
        expect(pending).to.deep.equal({ schema: 'pending', pending: ['900_sites'] });
        expect(await catchError(migrateBy(...statements, 'SELECT nonsense'))).to.be.instanceOf(Error);
        expect(await migrateBy(...statements)).to.deep.equal({ schema: 'migrated', pending: [] });
        expect(await migrateBy(...statements)).to.deep.equal({ schema: 'current', pending: [] });
        expect(await storage.add([PLANT])).to.deep.equal(ADDED);
      });
    });
  }
});

describe('The schema of a SQLite file', () => {
  const stores = sqliteEngine.stores();

  it('is reported as created by the first start, and as current by the next one', async () => {
    const store = await stores.create();
    const { schema, pending } = await stores.open(store);
    expect({ schema, pending }).to.deep.equal({ schema: 'created', pending: [] });
    for (const readOnly of [false, true])
      expect(await stores.open(store, { readOnly })).to.have.property('schema', 'current');
  });

  it('is not opened if it is newer', async () => {
    const store = await stores.create();
    await stores.open(store);
    await store.run("INSERT INTO plant_store_migrations VALUES ('002_sites'), ('003_none')");
    const reason = /: its schema has 002_sites, 003_none; start a newer version of plant-store$/;
    for (const readOnly of [false, true])
      expect(`${await catchError(stores.open(store, { readOnly }))}`).to.match(reason);
  });

  it('opened for reading, reports the pending migrations and changes nothing, even if the file is missing', async () => {
    const [empty, missing] = [await stores.create(), await stores.create()];
    writeFileSync(empty.path, '');
    for (const store of [empty, missing]) {
      const { schema, pending } = await stores.open(store, { readOnly: true });
      expect({ schema, pending }).to.deep.equal({ schema: 'missing', pending: Object.keys(sqlite.migrations) });
    }
    expect(statSync(empty.path).size).to.equal(0);
    expect(existsSync(missing.path)).to.equal(false);
  });

  it('is not opened while its COMMIT fails, because another program reads a file without a write-ahead log', async () => {
    const store = await stores.create();
    const storage = await openStore(store.url);
    await storage.close();
    const reader = await SqliteFile.open(store.path);
    await reader.exec('PRAGMA journal_mode = DELETE; BEGIN; SELECT * FROM plants');
    const error = await catchError(stores.open(store, { timeoutMs: 500 }));
    expect(`${error}`).to.match(/cannot open sqlite:.*: .*database is locked$/);
    await reader.close();
    expect(await (await stores.open(store)).add([PLANT])).to.deep.equal(ADDED);
    expect(await store.readPlants()).to.have.lengthOf(1);
  });
});
