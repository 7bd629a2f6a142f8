import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import {
  type Database,
  mysqlDatabase,
  openRepository,
  pendingMigrations,
  postgresDatabase,
} from '../../../adapters/knex/index.js';
import { CreatePlant, type PlantRepository, StorageUnavailable } from '../../../core/index.js';
import {
  durablePlantRepositoryContract,
  durablePlantRepositoryOutageContract,
  rejectingPlantRepositoryContract,
  sharedPlantRepositoryContract,
} from '../../contract/index.js';
import { catchError } from '../../support/catch-error.js';
import { type DatabaseServer, databasesOn, mariadbServer, postgresServer } from '../../support/database-servers.js';
import { FaultyProxy } from '../../support/faulty-proxy.js';
import { toPlant } from '../../support/plants.js';
import { runContract } from '../../support/run-contract.js';
import { waitUntil } from '../../support/wait-until.js';

/** A value that must not appear in any error. */
const CANARY = 'canary-4711';
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
    const toClose: PlantRepository[] = [];
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
      runContract(durablePlantRepositoryContract, harness);
      runContract(sharedPlantRepositoryContract, { ...harness, openAnother: reopen });
      runContract(rejectingPlantRepositoryContract, {
        open: async () => {
          const repository = await harness.open();
          await databases.connect(url).raw(REJECT_POISON);
          return repository;
        },
        rejectedPlant: toPlant({ id: 7_000_001n, name: 'poison', tag: CANARY }),
      });
    });

    describe('meets the contract while the server is unreachable:', () => {
      let proxy: FaultyProxy;
      let url: string;
      before(async () => {
        proxy = await FaultyProxy.to(server.url, server.client === 'pg' ? 5432 : 3306);
      });
      after(() => proxy.close());
      const reopen = () => openRepository(at(url));
      runContract(durablePlantRepositoryOutageContract, {
        open: async () => {
          url = proxy.toProxiedUrl(await databases.create());
          return reopen();
        },
        reopen,
        withStorageAway: async (work) => {
          await proxy.refuseConnections();
          await work().finally(() => proxy.restore());
        },
      });
    });

    it('stores 40 names of 1 MiB in one call, and reads them in small pages', async () => {
      const repository = await open(await databases.create());
      const name = '🌱'.repeat(256 * 1024);
      const many = Array.from({ length: 40 }, (_, id) => toPlant({ id: BigInt(id), name: `${id}${name}` }));
      expect((await repository.add(many)).every(({ kind }) => kind === 'added')).to.equal(true);
      let id = 0;
      for await (const page of repository.readAll()) {
        expect(page.length, 'a page is bounded in bytes').to.be.below(10);
        for (const read of page) expect(read.name === `${id++}${name}`).to.equal(true);
      }
      expect(id).to.equal(40);
    });

    it('distinguishes texts that collations treat as equal', async () => {
      const createPlant = new CreatePlant(await open(await databases.create()));
      const names = ['a', 'A', 'a ', 'á', 'a\u0301', 'ß', 'ss'];
      await createPlant.executeAll(names.map((name, id) => ({ id: BigInt(id), name })));
      for (const [id, stored] of names.entries()) {
        for (const name of names) {
          const { kind } = await createPlant.execute({ id: BigInt(id), name });
          expect(kind, JSON.stringify([stored, name])).to.equal(name === stored ? 'already-stored' : 'id-taken');
        }
      }
    });

    it('migrates an empty database for three instances that start concurrently', async () => {
      const url = await databases.create();
      const instances = await Promise.all([open(url), open(url), open(url)]);
      expect((await instances[0].add([toPlant({ id: 1n, name: 'x' })])).map(({ kind }) => kind)).to.deep.equal([
        'added',
      ]);
      expect((await instances[2].add([toPlant({ id: 1n, name: 'x' })])).map(({ kind }) => kind)).to.deep.equal([
        'taken',
      ]);
      expect(await pendingMigrations(at(url))).to.deep.equal([]);
    });

    it('creates one plant for 102 concurrent creates of an id, and returns already-stored or id-taken to the others', async () => {
      const url = await databases.create();
      const useCases = (await Promise.all([open(url), open(url), open(url)])).map(
        (repository) => new CreatePlant(repository),
      );
      const kinds = await Promise.all(
        Array.from({ length: 102 }, async (_, turn) => {
          const name = turn % 2 === 0 ? 'even' : 'odd';
          const outcome = await useCases[turn % 3]?.execute({ id: 7n, name });
          return { name, kind: outcome?.kind };
        }),
      );
      const winner = kinds.find(({ kind }) => kind === 'created')?.name;
      expect(kinds.filter(({ kind }) => kind === 'created')).to.have.length(1);
      for (const { name, kind } of kinds.filter((outcome) => outcome.kind !== 'created')) {
        expect(kind).to.equal(name === winner ? 'already-stored' : 'id-taken');
      }
    });

    it('gives each id to one plant when three instances add the same ids concurrently, in any order', async () => {
      const url = await databases.create();
      const instances = await Promise.all([open(url), open(url), open(url)]);
      const ids = Array.from({ length: 500 }, (_, id) => BigInt(id));
      const added = await Promise.all(
        Array.from({ length: 12 }, async (_, turn) => {
          const order = turn % 2 === 0 ? ids : ids.toReversed();
          const outcomes = await instances[turn % 3]?.add(order.map((id) => toPlant({ id, name: `${turn}` })));
          return outcomes?.filter(({ kind }) => kind === 'added').length ?? 0;
        }),
      );
      expect(added.reduce((sum, count) => sum + count, 0)).to.equal(500);
    });

    it('rejects only the plant that the engine rejects, and does not reveal its tag', async () => {
      const url = await databases.create();
      const repository = await open(url);
      await databases.connect(url).raw(REJECT_POISON);
      const many = Array.from({ length: 100 }, (_, id) =>
        toPlant({ id: BigInt(id), name: id === 42 ? 'poison' : `fine ${id}`, tag: CANARY }),
      );
      const outcomes = await repository.add(many);
      expect(outcomes.filter(({ kind }) => kind === 'added')).to.have.length(99);
      const rejected = outcomes[42];
      expect(rejected?.kind).to.equal('rejected');
      expect(allTexts(rejected?.kind === 'rejected' ? rejected.error : undefined)).to.not.include(CANARY);
    });

    it('does not open a schema of a newer version', async () => {
      const url = await databases.create();
      await (await openRepository(at(url))).close();
      await databases.connect(url)('plant_store_migrations').insert({ name: '999_future', batch: 2 });
      const error = await catchError(openRepository(at(url)));
      expect(error).to.be.instanceOf(StorageUnavailable);
      expect(`${error}`).to.match(/its schema has 999_future; start a newer version of plant-store/);
    });

    it('reports a database that it cannot open, without its password', async () => {
      const broken = new URL(server.url);
      broken.pathname = '/no_such_database';
      broken.password = CANARY;
      const missing = await catchError(openRepository(at(broken.href)));
      expect(missing).to.be.instanceOf(StorageUnavailable);
      expect(allTexts(missing)).to.not.include(CANARY);
      broken.port = '1';
      expect(`${await catchError(openRepository(at(broken.href)))}`).to.match(
        /^StorageUnavailable: cannot open \w+:\/\/[^@]*: connection refused; check the address and that the server is running$/,
      );
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
    await (
      await openRepository(postgresDatabase({ url: url.href, timeoutMs: 10_000, warn: (text) => warnings.push(text) }))
    ).close();
    expect(warnings.join()).to.match(/synchronous_commit=off/);
  });
});

describe('The repository on MariaDB', () => {
  const databases = databasesOn(mariadbServer);

  it('warns about a setting that acknowledges writes before they are durable', async () => {
    const url = await databases.create();
    const admin = databases.connect();
    const warnings: string[] = [];
    await admin.raw('SET GLOBAL innodb_flush_log_at_trx_commit = 2');
    try {
      await (
        await openRepository(mysqlDatabase({ url, timeoutMs: 10_000, warn: (text) => warnings.push(text) }))
      ).close();
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
