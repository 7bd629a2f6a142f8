import { setTimeout } from 'node:timers/promises';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import {
  mysqlDatabase,
  openRepository,
  postgresDatabase,
  readPendingMigrations,
} from '../../../../adapters/driven/knex/index.js';
import { StorageUnavailable } from '../../../../core/index.js';
import { type OpenPlantRepository, plantRepositoryContract } from '../../../contract/index.js';
import { catchError } from '../../../support/catch-error.js';
import { databasesOn, mariadbServer, postgresServer } from '../../../support/database-servers.js';
import { FaultyProxy } from '../../../support/faulty-proxy.js';
import { toPlant } from '../../../support/plants.js';
import { runContract } from '../../../support/run-contract.js';

/** A value that must not appear in any error. */
const CANARY = 'canary-4711';
const PLANTS = [toPlant({ id: 1n, name: 'Monstera' })];

for (const [server, toDatabase] of [
  [postgresServer, postgresDatabase],
  [mariadbServer, mysqlDatabase],
] as const) {
  describe(`The repository on ${server.name}`, () => {
    const isPostgres = server.client === 'pg';
    const at = (url: string) => toDatabase({ url, timeoutMs: 10_000 });
    const databases = databasesOn(server);
    const toClose: OpenPlantRepository[] = [];
    after(() => Promise.all(toClose.map((repository) => repository.close())));

    const open = async (url: string) => {
      const repository = await openRepository(at(url));
      toClose.push(repository);
      return repository;
    };

    describe('meets the contract:', () => {
      let proxy: FaultyProxy;
      let url: string;
      before(async () => {
        proxy = await FaultyProxy.to(server.url, isPostgres ? 5432 : 3306);
      });
      after(() => proxy.refuseConnections());
      const reopen = () => openRepository(at(url));
      const openNew = async () => {
        url = proxy.toProxiedUrl(await databases.create());
        return reopen();
      };
      const whileUnavailable = async (work: () => Promise<void>) => {
        await proxy.refuseConnections();
        await work().finally(() => proxy.restore());
      };
      runContract(plantRepositoryContract({ open: openNew, reopen, openAnother: reopen, whileUnavailable }));
      // Separate, because the connection of the tests would count as one of the repository.
      const rejecting = plantRepositoryContract({
        open: async () => {
          const repository = await openNew();
          await databases.connect(url).raw("ALTER TABLE plants ADD CHECK (name <> 'poison')");
          return repository;
        },
        rejectedPlant: () => toPlant({ id: 7_000_001n, name: 'poison', tag: CANARY }),
      });
      runContract(rejecting, (group) => group === 'rejected plants');
    });

    it('reads large names in small pages', async () => {
      const repository = await open(await databases.create());
      const name = '🌱'.repeat(256 * 1024);
      const plants = Array.from({ length: 20 }, (_, id) => toPlant({ id: BigInt(id), name: `${id}${name}` }));
      await repository.add(plants);
      const pages: number[] = [];
      for await (const page of repository.readAll()) pages.push(page.length);
      expect(Math.max(...pages), 'a page is bounded in bytes').to.be.below(10);
    });

    it('migrates an empty database for three instances that start concurrently', async () => {
      const url = await databases.create();
      const instances = await Promise.all([open(url), open(url), open(url)]);
      expect(await instances[0].add(PLANTS)).to.deep.equal([{ kind: 'added' }]);
      expect(await instances[2].add(PLANTS)).to.have.nested.property('[0].kind', 'taken');
      expect(await readPendingMigrations(at(url))).to.deep.equal([]);
    });

    it('repeats a write that the server ends because of a deadlock', async () => {
      const url = await databases.create();
      const repository = await open(url);
      const other = await databases.connect(url).transaction();
      // More rows than the write, because MariaDB ends the smaller transaction.
      await other('plants').insert([2, 3, 4, 5].map((id) => ({ id, name: 'x' })));
      const adding = repository.add([1n, 2n].map((id) => toPlant({ id, name: 'Aloe' })));
      // Until the write has inserted one plant and waits for the other.
      await setTimeout(300);
      await other('plants').insert({ id: 1, name: 'x' });
      await other.rollback();
      expect(await adding).to.deep.equal([{ kind: 'added' }, { kind: 'added' }]);
    });

    const renamed: readonly (readonly [what: string, change: string, revert: string])[] = [
      ['column tag', 'ALTER TABLE plants RENAME COLUMN tag TO kind', 'ALTER TABLE plants RENAME COLUMN kind TO tag'],
      ...Object.keys(at(server.url).engine.tables).map(
        (name) =>
          [`table ${name}`, `ALTER TABLE ${name} RENAME TO moved`, `ALTER TABLE moved RENAME TO ${name}`] as const,
      ),
    ];
    for (const [what, change, revert] of renamed) {
      it(`throws StorageUnavailable and is not ready while the ${what} is missing`, async () => {
        const url = await databases.create();
        const repository = await open(url);
        const admin = databases.connect(url);
        await repository.add(PLANTS);
        await admin.raw(change);
        expect(await catchError(repository.add(PLANTS))).to.be.instanceOf(StorageUnavailable);
        expect(await catchError(repository.ready())).to.be.instanceOf(StorageUnavailable);
        await admin.raw(revert);
        await repository.ready();
        expect(await repository.add(PLANTS)).to.have.nested.property('[0].kind', 'taken');
      });
    }

    for (const [what, sql, message] of [
      ['a missing table', 'DROP TABLE plants', 'is missing'],
      ['a renamed column', 'ALTER TABLE plants RENAME COLUMN tag TO kind', 'lacks columns: tag (long)?text;'],
      [
        'other types and columns',
        'CREATE TABLE plants (id INT PRIMARY KEY)',
        'lacks columns: id bigint primary key, name ',
      ],
      ['no primary key', 'CREATE TABLE plants AS SELECT * FROM moved', 'lacks columns: id bigint primary key;'],
    ] as const) {
      it(`does not open a schema with ${what}, and names the table`, async () => {
        const url = await databases.create();
        await (await openRepository(at(url))).close();
        const admin = databases.connect(url);
        // The statement creates another table in place of the original.
        if (sql.startsWith('CREATE')) await admin.raw('ALTER TABLE plants RENAME TO moved');
        await admin.raw(sql);
        for (const readOnly of [false, true]) {
          const error = await catchError(openRepository({ ...at(url), readOnly }));
          expect(`${error}`).to.match(RegExp(`^StorageUnavailable: cannot open .*: the table plants ${message}`));
        }
      });
    }

    it('does not take over a table of another program', async () => {
      const url = await databases.create();
      const admin = databases.connect(url);
      await admin.raw('CREATE TABLE plants (plant TEXT)');
      expect(`${await catchError(openRepository(at(url)))}`).to.match(/: the table plants lacks columns: /);
      // MySQL commits each statement of a migration.
      if (isPostgres) expect(await admin.schema.hasTable('plant_store_migrations')).to.equal(false);
    });

    it('migrates in several statements, also after a crash between them', async () => {
      const database = at(await databases.create());
      await (await openRepository(database)).close();
      const statements = [
        'ALTER TABLE plants ADD COLUMN height BIGINT',
        'ALTER TABLE plants ADD COLUMN width BIGINT',
        'CREATE INDEX plants_by_width ON plants (width)',
      ];
      const migrations = { ...database.engine.migrations, '900_sizes': statements };
      const columns = [...(database.engine.tables['plants'] ?? []), 'height bigint', 'width bigint'];
      const engine = { ...database.engine, migrations, tables: { plants: columns } };
      const broken = { ...engine, migrations: { ...migrations, '900_sizes': [...statements, 'SELECT nonsense'] } };
      expect(await catchError(openRepository({ ...database, engine: broken }))).to.be.instanceOf(StorageUnavailable);
      const repository = await openRepository({ ...database, engine });
      expect(await repository.add(PLANTS)).to.deep.equal([{ kind: 'added' }]);
      await repository.close();
    });

    it('reports why it cannot open a database, without the password', async () => {
      const [missing, tls] = [new URL(server.url), new URL(server.url)];
      missing.pathname = '/no_such_database';
      tls.search = isPostgres ? 'sslmode=verify-full' : 'ssl={}';
      for (const [url, reason] of [
        [missing, /: (the database does not exist|wrong user or password)/],
        [tls, /: the server does not support TLS; /],
      ] as const) {
        url.password = CANARY;
        const error = await catchError(openRepository(at(url.href)));
        expect(error).to.be.instanceOf(StorageUnavailable).with.property('message').that.matches(reason);
        expect(inspect(error)).to.not.include(CANARY);
      }
    });

    it('warns about a setting that makes the server acknowledge writes before they are durable', async () => {
      const url = new URL(await databases.create());
      const admin = databases.connect();
      if (isPostgres) url.searchParams.set('options', `${url.searchParams.get('options')} -c synchronous_commit=off`);
      // MariaDB has only a global setting.
      const setFlush = async (value: number) => {
        if (!isPostgres) await admin.raw(`SET GLOBAL innodb_flush_log_at_trx_commit = ${value}`);
      };
      const warnings: string[] = [];
      await setFlush(2);
      try {
        await (await openRepository({ ...at(url.href), warn: (text) => warnings.push(text) })).close();
      } finally {
        await setFlush(1);
      }
      expect(warnings.join()).to.include(isPostgres ? 'synchronous_commit=off' : 'innodb_flush_log_at_trx_commit=2');
    });
  });
}
