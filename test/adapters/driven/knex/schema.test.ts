import { expect } from 'chai';
import { describe, it } from 'mocha';
import { mysql } from '#adapters/driven/knex/mysql.js';
import { postgres } from '#adapters/driven/knex/postgres.js';
import { migrate, readSchema } from '#adapters/driven/knex/schema.js';
import { sqlite } from '#adapters/driven/knex/sqlite.js';
import { readPlants } from '#contract/repository-checks.js';
import { catchError } from '../../../support/catch-error.js';
import { enginesOfTier, openStore, sqliteEngine } from '../../../support/engines.js';
import { toPlant } from '../../../support/plants.js';

const PLANTS = [
  { id: -(2n ** 63n), name: 'Aloe vera' },
  { id: 2n ** 53n + 1n, name: 'Crème 🌵', tag: '' },
].map(toPlant);
const ADDED = PLANTS.map(() => ({ kind: 'added' }));

/** Columns that another program may have created: each of the `lossy` ones changes some plants, the `accepted` ones none. */
const engines = {
  sqlite3: {
    dialect: sqlite,
    lossy: 'id NUMERIC PRIMARY KEY, name STRING NOT NULL, tag BLOB',
    accepted: "ID bigint PRIMARY KEY, Name VARCHAR(9) NOT NULL, tag, soil TEXT NOT NULL DEFAULT 'wet'",
  },
  pg: {
    dialect: postgres,
    lossy: 'id INTEGER PRIMARY KEY, name CHARACTER(50) NOT NULL, tag CHARACTER VARYING(50)',
    accepted: `id int8, name information_schema.character_data NOT NULL, tag varchar, soil text NOT NULL DEFAULT 'wet',
      seq int GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (id) INCLUDE (name)`,
  },
  mysql2: {
    dialect: mysql,
    lossy: 'id BIGINT UNSIGNED PRIMARY KEY, name TEXT NOT NULL, tag LONGTEXT CHARACTER SET latin1',
    accepted: `ID BIGINT PRIMARY KEY, name MEDIUMTEXT CHARACTER SET utf8mb4 NOT NULL,
      tag LONGTEXT CHARACTER SET utf8mb4, soil VARCHAR(9) NOT NULL DEFAULT 'wet', seq INT NOT NULL AUTO_INCREMENT UNIQUE`,
  },
};

describe('The schema', () => {
  for (const { name, client, stores: createStores } of enginesOfTier) {
    describe(name, () => {
      const stores = createStores();
      const { dialect, lossy, accepted } = engines[client];

      it('is created once for four instances that start concurrently', async () => {
        const store = await stores.create();
        const instances = await Promise.all([1, 2, 3, 4].map(() => stores.open(store)));
        const adding = instances.map((instance, id) => instance.add([toPlant({ id: BigInt(id), name: 'Aloe' })]));
        expect((await Promise.all(adding)).flat()).to.deep.equal(instances.map(() => ({ kind: 'added' })));
        expect(await store.readPlants()).to.have.lengthOf(4);
      });

      it('is missing, created, current, or pending if only the table of plants was restored', async () => {
        const store = await stores.create();
        const all = Object.keys(dialect.migrations);
        const open = async (readOnly: boolean) => {
          const { schema, pending } = await stores.open(store, { readOnly });
          return { schema, pending };
        };
        expect(await open(true)).to.deep.equal({ schema: 'missing', pending: all });
        expect(await open(false)).to.deep.equal({ schema: 'created', pending: [] });
        for (const readOnly of [false, true])
          expect(await open(readOnly)).to.deep.equal({ schema: 'current', pending: [] });
        await store.run('DROP TABLE plant_store_migrations');
        expect(await open(true)).to.deep.equal({ schema: 'pending', pending: all });
        expect(await open(false)).to.deep.equal({ schema: 'created', pending: [] });
      });

      it('does not accept a table that cannot keep every plant, and says why', async () => {
        // Some servers name the columns in another order.
        for (const [columns, ...reasons] of [
          [lossy, 'the type of id is .+', 'the type of name is .+', 'the type of tag is .+'],
          ['number INTEGER', 'id is missing', 'name is missing', 'tag is missing', 'its primary key is not id'],
          [
            'id BIGINT, number INT, name TEXT, tag TEXT NOT NULL, pots INT NOT NULL, PRIMARY KEY (id, number)',
            ...[
              'its primary key is not id',
              'name may be NULL',
              'tag .* must have a value',
              'pots .* must have a value',
            ],
          ],
        ] as const) {
          const store = await stores.create();
          await store.run(`CREATE TABLE plants (${columns})`);
          for (const readOnly of [false, true]) {
            const message = `${await catchError(openStore(store.url, { readOnly }))}`;
            for (const reason of reasons)
              expect(message, columns).to.match(
                RegExp(`: the table plants cannot keep every plant: (.+, )?${reason}(, |$)`),
              );
          }
        }
      });

      it('accepts a table of other types that keeps every plant', async () => {
        const store = await stores.create();
        await store.run(`CREATE TABLE plants (${accepted})`);
        const storage = await stores.open(store);
        expect(await storage.add(PLANTS)).to.deep.equal(ADDED);
        expect(await readPlants(storage)).to.deep.equal(PLANTS);
      });

      it('is migrated in several statements, also after a crash between them', async () => {
        const { knex } = await stores.open(await stores.create());
        const statements = ['beds', 'sites'].map((table) => `CREATE TABLE IF NOT EXISTS ${table} (id INTEGER)`);
        const toDialect = (...added: readonly string[]) => {
          return { ...dialect, migrations: { ...dialect.migrations, '900_sites': added } };
        };
        const pending = await readSchema(knex, toDialect());
        expect(pending).to.deep.equal({ schema: 'pending', pending: ['900_sites'] });
        const crashing = migrate(knex, toDialect(...statements, 'SELECT nonsense'));
        expect(await catchError(crashing)).to.be.instanceOf(Error);
        for (const schema of ['migrated', 'current'])
          expect(await migrate(knex, toDialect(...statements))).to.deep.equal({ schema, pending: [] });
        for (const table of ['beds', 'sites']) expect(await knex(table).select()).to.deep.equal([]);
      });
    });
  }
});

describe('The schema of a SQLite file', () => {
  const stores = sqliteEngine.stores();

  it('is not accepted if it is newer', async () => {
    const store = await stores.create();
    await stores.open(store);
    await store.run("INSERT INTO plant_store_migrations VALUES ('002_sites'), ('003_none')");
    const reason = /: its schema has 002_sites, 003_none; start a newer version of plant-store$/;
    for (const readOnly of [false, true])
      expect(`${await catchError(stores.open(store, { readOnly }))}`).to.match(reason);
  });
});
