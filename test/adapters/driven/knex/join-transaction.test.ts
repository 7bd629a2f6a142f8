import { joinTransaction } from '@plant-store/adapters/knex';
import { isStorageUnavailable, type Plant } from '@plant-store/core';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { describe, it } from 'mocha';
import { mysql } from '#adapters/driven/knex/mysql.js';
import { postgres } from '#adapters/driven/knex/postgres.js';
import { sqlite } from '#adapters/driven/knex/sqlite.js';
import { readPlants } from '#contract/repository-checks.js';
import { catchError } from '../../../support/catch-error.js';
import { waitForLock } from '../../../support/database-servers.js';
import { enginesOfTier } from '../../../support/engines.js';
import { toPlant } from '../../../support/plants.js';

const ADDED = { kind: 'added' };
/** The codes after which a transaction should run again. */
const TO_RUN_AGAIN = /^(SQLITE_BUSY|SQLITE_ERROR (5|517)|40001|40P01|23505|ER_LOCK_DEADLOCK|ER_CHECKREAD)$/;
const plant = (id: number, name = `plant ${id}`): Plant => toPlant({ id: BigInt(id), name });

describe('joinTransaction', () => {
  for (const engine of enginesOfTier) {
    describe(engine.name, () => {
      const isSqlite = engine.dialect === sqlite;
      const isPostgres = engine.dialect === postgres;
      const stores = engine.stores();

      /** Creates a store with a table of orders. `knex` and `others` are pools of two programs that use it. */
      const setUp = async () => {
        const store = await stores.create();
        const storage = await stores.open(store);
        const { knex } = storage;
        const { knex: others } = await stores.open(store);
        await knex.schema.createTable('orders', (table) => table.integer('number').primary());
        const readAll = async () => ({
          plants: (await store.readPlants()).map(({ id }) => Number(id)),
          orders: await knex('orders').orderBy('number').pluck('number'),
        });
        return { store, storage, knex, others, readAll };
      };

      const expectToRunAgain = (error: unknown) => {
        expect(isStorageUnavailable(error), `${error}`).to.equal(true);
        expect(error).to.have.property('cause').that.has.all.keys('code', 'errno', 'sqlState');
        expect(error).to.have.nested.property('cause.code').that.matches(TO_RUN_AGAIN);
        if (!isPostgres) expect(error).to.have.nested.property('cause.errno').that.is.oneOf([5, 1213, 1020]);
      };

      it('finds stored plants and those of the transaction, which others do not see before it commits', async () => {
        const { storage, knex, readAll } = await setUp();
        const [stored, mine] = [plant(1, 'stored'), plant(2, 'mine')];
        await storage.add([stored]);
        await knex.transaction(async (transaction) => {
          const repository = joinTransaction(transaction);
          await repository.add([mine]);
          await transaction('orders').insert({ number: 1 });
          expect(await readPlants(storage)).to.deep.equal([stored]);
          expect(await readPlants(repository)).to.deep.equal([stored, mine]);
          expect(await repository.add([plant(1), plant(2), plant(3)])).to.deep.equal([
            { kind: 'conflict', stored },
            { kind: 'conflict', stored: mine },
            ADDED,
          ]);
        });
        expect(await readAll()).to.deep.equal({ plants: [1, 2, 3], orders: [1] });
      });

      it('goes on with a transaction in which the engine has rejected a plant, alone and among others', async () => {
        const { store, storage, knex, readAll } = await setUp();
        await store.run(engine.rejectPoison);
        await store.run(`CREATE UNIQUE INDEX names ON plants (${engine.dialect === mysql ? 'name(99)' : 'name'})`);
        await storage.add([plant(1, 'unique')]);
        await knex.transaction(async (transaction) => {
          const repository = joinTransaction(transaction);
          await transaction('orders').insert({ number: 1 });
          expect(await repository.add([plant(9, 'poison')])).to.have.nested.property('[0].kind', 'rejected');
          const outcomes = await repository.add([plant(2), plant(3, 'poison'), plant(4), plant(5, 'unique')]);
          expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['added', 'rejected', 'added', 'rejected']);
          await transaction('orders').insert({ number: 2 });
        });
        expect(await readAll()).to.deep.equal({ plants: [1, 2, 4], orders: [1, 2] });
      });

      /** Adds plants in a transaction that has read before another program stored the first of them. */
      const addAfterWinner = ({ knex, others }: Record<'knex' | 'others', Knex>, config?: Knex.TransactionConfig) =>
        knex.transaction(async (transaction) => {
          await transaction('plants').select('name');
          await others('plants').insert({ id: 1, name: 'winner' });
          return joinTransaction(transaction).add([plant(1), plant(2)]);
        }, config);

      if (isSqlite) {
        it('must run again if another program has written since its first read', async () => {
          const { knex, others, readAll } = await setUp();
          expectToRunAgain(await catchError(addAfterWinner({ knex, others })));
          expect(await readAll()).to.deep.equal({ plants: [1], orders: [] });
        });
      } else {
        it('reports a plant that was stored after the first read of the transaction', async () => {
          const outcomes = await addAfterWinner(await setUp());
          expect(outcomes).to.deep.equal([{ kind: 'conflict', stored: plant(1, 'winner') }, ADDED]);
        });
      }

      if (isPostgres) {
        it('must run again at the level repeatable read if a plant was stored after its first read', async () => {
          const adding = addAfterWinner(await setUp(), { isolationLevel: 'repeatable read' });
          expectToRunAgain(await catchError(adding));
        });
      }

      it('rejects calls after a failure, also those made before it and those after a savepoint that failed', async () => {
        const { knex, readAll } = await setUp();
        await knex.raw('ALTER TABLE plants RENAME TO moved');
        const transaction = await knex.transaction();
        await transaction('orders').insert({ number: 1 });
        const calls = [1, 2].map((id) => catchError(joinTransaction(transaction).add([plant(id)])));
        const [first, second] = await Promise.all(calls);
        expect(`${first}`).to.match(/^StorageUnavailable: the storage is unavailable/);
        expect(`${second}`).to.match(/: an earlier call failed; roll back the transaction$/);
        await transaction.rollback();

        const outer = await knex.transaction();
        const inSavepoint = outer.transaction((savepoint) => joinTransaction(savepoint).add([plant(3)]));
        expect(`${await catchError(inSavepoint)}`).to.match(/: the storage is unavailable/);
        const afterwards = joinTransaction(outer).add([plant(4)]);
        expect(`${await catchError(afterwards)}`).to.match(/: an earlier call failed; roll back the transaction$/);
        await outer.rollback();
        await knex.raw('ALTER TABLE moved RENAME TO plants');
        expect(await readAll()).to.deep.equal({ plants: [], orders: [] });
      });

      it('stores neither plants nor an order when the caller rolls back, even during a call', async () => {
        const { knex, readAll } = await setUp();
        for (let attempt = 0; attempt < 300; attempt++) {
          const transaction = await knex.transaction();
          await transaction('orders').insert({ number: attempt });
          await joinTransaction(transaction).add([plant(2 * attempt)]);
          const adding = Promise.allSettled([joinTransaction(transaction).add([plant(2 * attempt + 1)])]);
          // The rollback meets each step of the call.
          for (let step = 0; step < attempt % 6; step++) await Promise.resolve();
          await transaction.rollback();
          await adding;
        }
        expect(await readAll()).to.deep.equal({ plants: [], orders: [] });
      });

      it('accepts savepoints of the caller around a plant', async () => {
        const { knex, readAll } = await setUp();
        await knex.transaction(async (transaction) => {
          const repository = joinTransaction(transaction);
          await transaction.transaction(() => repository.add([plant(1)]));
          const undone = transaction.transaction(async (savepoint) => {
            await joinTransaction(savepoint).add([plant(2)]);
            throw new RangeError('mine');
          });
          expect(await catchError(undone)).to.be.instanceOf(RangeError);
        });
        expect(await readAll()).to.deep.equal({ plants: [1], orders: [] });
      });

      it('rejects calls after the end of the transaction', async () => {
        const { knex } = await setUp();
        const transaction = await knex.transaction();
        const repository = joinTransaction(transaction);
        await transaction.commit();
        for (const call of [repository.add([plant(1)]), readPlants(repository)])
          expect(`${await catchError(call)}`).to.equal('StorageUnavailable: the transaction has ended');
      });

      if (!isSqlite)
        it('has the code ECONNRESET if the connection of the transaction has ended', async () => {
          const { knex, others, readAll } = await setUp();
          const transaction = await knex.transaction();
          const [{ id }] = await transaction.select(
            knex.raw(`${isPostgres ? 'pg_backend_pid' : 'connection_id'}() AS id`),
          );
          await others.raw(isPostgres ? 'SELECT pg_terminate_backend(?)' : 'KILL ?', [id]);
          // The driver reports the end of the connection to this statement.
          await catchError(transaction.raw('SELECT 1').then());
          const failure = await catchError(joinTransaction(transaction).add([plant(1)]));
          expect(`${failure}`).to.equal('StorageUnavailable: the storage is unavailable (ECONNRESET)');
          expect(failure).to.have.nested.property('cause.code', 'ECONNRESET');
          await transaction.rollback();
          expect(await readAll()).to.deep.equal({ plants: [], orders: [] });
        });

      if (isPostgres)
        it('says that an earlier statement of the caller failed', async () => {
          const { knex } = await setUp();
          const transaction = await knex.transaction();
          await catchError(transaction('missing').select());
          const failure = await catchError(joinTransaction(transaction).add([plant(1)]));
          expect(`${failure}`).to.match(/: an earlier statement failed; roll back \(25P02\)$/);
          expect(failure).to.have.nested.property('cause.code', '25P02');
          await transaction.rollback();
        });

      if (!isSqlite)
        it('stores no plant without its order after a deadlock, and says that the transaction must run again', async () => {
          const { knex, others, readAll } = await setUp();
          await knex('orders').insert([{ number: 1 }, { number: 2 }]);
          const other = await others.transaction();
          // More rows, because InnoDB rolls back the smaller transaction.
          await other('orders').insert([3, 4, 5, 6, 7].map((number) => ({ number })));
          await other('plants').insert({ id: 1, name: 'x' });
          const mine = await knex.transaction();
          await mine('orders').where({ number: 1 }).update({ number: 10 });
          const adding = joinTransaction(mine).add([plant(1)]);
          await waitForLock(knex);
          // Knex sends a statement when it gets a handler.
          const updating = other('orders').where({ number: 1 }).update({ number: 11 }).then();
          const failure = await catchError(adding);
          expectToRunAgain(failure);
          await mine.rollback();
          await updating;
          await other.rollback();
          expect(await readAll()).to.deep.equal({ plants: [], orders: [1, 2] });
        });
    });
  }

  it('rejects what is not a transaction on a supported driver', () => {
    expect(() => joinTransaction(Object({}))).to.throw(TypeError, 'joinTransaction needs a Knex transaction');
    const onOracle = Object({ isTransaction: true, client: { driverName: 'oracledb' } });
    expect(() => joinTransaction(onOracle)).to.throw(TypeError, 'not oracledb');
  });
});
