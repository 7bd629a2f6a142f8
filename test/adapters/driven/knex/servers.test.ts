import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import {
  type Database,
  mysqlDatabase,
  openRepository,
  postgresDatabase,
  readPendingMigrations,
} from '../../../../adapters/driven/knex/index.js';
import { StorageUnavailable } from '../../../../core/index.js';
import { type OpenPlantRepository, plantRepositoryContract } from '../../../contract/index.js';
import { catchError } from '../../../support/catch-error.js';
import { type DatabaseServer, databasesOn, mariadbServer, postgresServer } from '../../../support/database-servers.js';
import { FaultyProxy } from '../../../support/faulty-proxy.js';
import { toPlant } from '../../../support/plants.js';
import { runContract } from '../../../support/run-contract.js';
import { waitUntil } from '../../../support/wait-until.js';

/** A value that must not appear in any error. */
const CANARY = 'canary-4711';
const PLANTS = [toPlant({ id: 1n, name: 'Monstera' })];
/** SQL that makes the table reject plants named `poison`. */
const REJECT_POISON = "ALTER TABLE plants ADD CHECK (name <> 'poison')";

interface Engine {
  readonly server: DatabaseServer;
  /** Returns the database at a URL, from the same factory that the service uses. */
  at(url: string, warn?: (warning: string) => void): Database;
}

const engines: readonly Engine[] = [
  {
    server: postgresServer,
    at: (url, warn) => postgresDatabase({ url, timeoutMs: 10_000, warn }),
  },
  {
    server: mariadbServer,
    at: (url, warn) => mysqlDatabase({ url, timeoutMs: 10_000, warn }),
  },
];

for (const { server, at } of engines) {
  describe(`The repository on ${server.name}`, () => {
    const databases = databasesOn(server);
    const toClose: OpenPlantRepository[] = [];
    after(() => Promise.all(toClose.map((repository) => repository.close())));

    const open = async (url: string, warn?: (warning: string) => void) => {
      const repository = await openRepository(at(url, warn));
      toClose.push(repository);
      return repository;
    };

    describe('meets the contract:', () => {
      let url: string;
      const reopen = () => openRepository(at(url));
      const harness = {
        open: async () => {
          url = await databases.create();
          return reopen();
        },
        reopen,
      };
      runContract(plantRepositoryContract({ ...harness, openAnother: reopen }));
      // Separate, because the connection of the tests would count as one of the repository.
      const rejecting = plantRepositoryContract({
        open: async () => {
          const repository = await harness.open();
          await databases.connect(url).raw(REJECT_POISON);
          return repository;
        },
        rejectedPlant: () => toPlant({ id: 7_000_001n, name: 'poison', tag: CANARY }),
      });
      runContract(rejecting, (group) => group === 'rejected plants');
    });

    describe('meets the contract while the server is unreachable:', () => {
      let proxy: FaultyProxy;
      let url: string;
      before(async () => {
        proxy = await FaultyProxy.to(server.url, server.client === 'pg' ? 5432 : 3306);
      });
      after(() => proxy.refuseConnections());
      const reopen = () => openRepository(at(url));
      runContract(
        plantRepositoryContract({
          open: async () => {
            url = proxy.toProxiedUrl(await databases.create());
            return reopen();
          },
          reopen,
          whileUnavailable: async (work) => {
            await proxy.refuseConnections();
            await work().finally(() => proxy.restore());
          },
        }),
        (group) => group.includes('outages'),
      );
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

    for (const [what, change, revert] of [
      ['table', 'RENAME TO moved', 'ALTER TABLE moved RENAME TO plants'],
      ['column', 'RENAME COLUMN tag TO kind', 'ALTER TABLE plants RENAME COLUMN kind TO tag'],
    ] as const) {
      it(`throws StorageUnavailable and is not ready while a ${what} is missing`, async () => {
        const url = await databases.create();
        const repository = await open(url);
        const admin = databases.connect(url);
        await admin.raw(`ALTER TABLE plants ${change}`);
        expect(await catchError(repository.add(PLANTS))).to.be.instanceOf(StorageUnavailable);
        expect(await catchError(repository.ready())).to.be.instanceOf(StorageUnavailable);
        await admin.raw(revert);
        await repository.ready();
        await repository.add(PLANTS);
      });
    }

    for (const [what, sql, message] of [
      ['a missing table', 'DROP TABLE plants', 'is missing'],
      ['another column', 'ALTER TABLE plants RENAME COLUMN tag TO kind', 'lacks columns: tag (long)?text;'],
      ['another type', 'CREATE TABLE plants (id INT PRIMARY KEY)', 'lacks columns: id bigint primary key, name '],
      ['no primary key', 'CREATE TABLE plants AS SELECT * FROM moved', 'lacks columns: id bigint primary key;'],
    ] as const) {
      it(`does not open a schema with ${what}, and names the table`, async () => {
        const url = await databases.create();
        await (await openRepository(at(url))).close();
        const admin = databases.connect(url);
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
      if (server.client === 'pg') expect(await admin.schema.hasTable('plant_store_migrations')).to.equal(false);
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

    it('does not open a schema of a newer version', async () => {
      const url = await databases.create();
      await (await openRepository(at(url))).close();
      await databases.connect(url)('plant_store_migrations').insert({ name: '999_future', batch: 2 });
      const error = await catchError(openRepository(at(url)));
      expect(error).to.be.instanceOf(StorageUnavailable);
      expect(`${error}`).to.match(/its schema has 999_future; start a newer version of plant-store/);
    });

    it('reports that the server does not support TLS', async () => {
      const url = new URL(server.url);
      url.search = server.client === 'pg' ? 'sslmode=verify-full' : 'ssl={}';
      expect(`${await catchError(openRepository(at(url.href)))}`).to.match(/: the server does not support TLS; /);
    });

    it('reports a database that it cannot open, without its password', async () => {
      const broken = new URL(server.url);
      broken.pathname = '/no_such_database';
      broken.password = CANARY;
      const missing = await catchError(openRepository(at(broken.href)));
      expect(missing).to.be.instanceOf(StorageUnavailable);
      expect(allTexts(missing)).to.not.include(CANARY);
    });
  });
}

describe('The repository on PostgreSQL', () => {
  const databases = databasesOn(postgresServer);

  it('after the server cancels a write, fails further writes immediately until a probe succeeds', async () => {
    const url = new URL(await databases.create());
    url.searchParams.set('statement_timeout', '1200');
    const repository = await openRepository(postgresDatabase({ url: url.href, timeoutMs: 2000 }));
    const lock = await databases.connect(url.href).transaction();
    try {
      await lock.raw('LOCK TABLE plants');
      const failAdding = (id: bigint) => catchError(repository.add([toPlant({ id, name: 'x' })]));
      expect(await failAdding(1n)).to.be.instanceOf(StorageUnavailable);
      expect(`${await failAdding(2n)}`).to.include('an earlier write timed out');
      await lock.rollback();
      await waitUntil('a write succeeds', () =>
        repository.add([toPlant({ id: 3n, name: 'x' })]).then(
          () => true,
          () => false,
        ),
      );
    } finally {
      if (!lock.isCompleted()) await lock.rollback();
      await repository.close();
    }
  });

  it('warns about a setting that acknowledges writes before they are durable', async () => {
    const url = new URL(await databases.create());
    url.searchParams.set('options', `${url.searchParams.get('options')} -c synchronous_commit=off`);
    const warnings: string[] = [];
    const warn = (text: string) => warnings.push(text);
    await (await openRepository(postgresDatabase({ url: url.href, timeoutMs: 10_000, warn }))).close();
    expect(warnings.join()).to.match(/synchronous_commit=off/);
  });
});

describe('The repository on MariaDB', () => {
  const databases = databasesOn(mariadbServer);

  it('throws StorageUnavailable and is not ready while the table for duplicates is missing', async () => {
    const url = await databases.create();
    const repository = await openRepository(mysqlDatabase({ url, timeoutMs: 10_000 }));
    const admin = databases.connect(url);
    await repository.add(PLANTS);
    await admin.raw('RENAME TABLE plant_store_log_syncs TO moved');
    try {
      expect(await catchError(repository.add(PLANTS))).to.be.instanceOf(StorageUnavailable);
      expect(await catchError(repository.ready())).to.be.instanceOf(StorageUnavailable);
      await admin.raw('RENAME TABLE moved TO plant_store_log_syncs');
      await repository.ready();
      expect(await repository.add(PLANTS)).to.have.nested.property('[0].kind', 'taken');
    } finally {
      await repository.close();
    }
  });

  it('warns about a setting that acknowledges writes before they are durable', async () => {
    const url = await databases.create();
    const admin = databases.connect();
    const warnings: string[] = [];
    const warn = (text: string) => warnings.push(text);
    await admin.raw('SET GLOBAL innodb_flush_log_at_trx_commit = 2');
    try {
      await (await openRepository(mysqlDatabase({ url, timeoutMs: 10_000, warn }))).close();
    } finally {
      await admin.raw('SET GLOBAL innodb_flush_log_at_trx_commit = 1');
    }
    expect(warnings.join()).to.match(/innodb_flush_log_at_trx_commit=2/);
  });
});

/** Returns all texts of an error and its causes. */
function allTexts(error: unknown): string {
  if (!(error instanceof Error)) return `${error}`;
  return [error.message, error.stack, JSON.stringify(error), allTexts(error.cause)].join('\n');
}
