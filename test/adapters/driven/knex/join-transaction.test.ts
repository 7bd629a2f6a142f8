import { joinTransaction, type KnexStorage } from '@plant-store/adapters/knex';
import { isStorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { beforeEach, describe, it } from 'mocha';
import { readPlants } from '#contract/repository-checks.js';
import { catchError } from '../../../support/catch-error.js';
import { waitForLock } from '../../../support/database-servers.js';
import { enginesOfTier, sqliteEngine, type TestStore } from '../../../support/engines.js';
import { toPlant } from '../../../support/plants.js';

const ADDED = { kind: 'added' };
const plant = (id: number, name = `plant ${id}`) => toPlant({ id: BigInt(id), name });
const add = (transaction: Knex.Transaction, id = 1) => joinTransaction(transaction).add([plant(id)]);

/** Expects that adding a plant fails with this message. */
async function expectFailure(adding: Promise<unknown>, message: RegExp): Promise<void> {
  const error = await catchError(adding);
  expect(isStorageUnavailable(error)).to.equal(true);
  expect(`${error}`).to.match(message);
}
/** Expects a failure with a code after which the transaction should run again. */
const expectToRunAgain = (adding: Promise<unknown>) =>
  expectFailure(adding, /\((SQLITE_BUSY|40001|40P01|23505|ER_LOCK_DEADLOCK|ER_CHECKREAD)\)$/);

describe('joinTransaction', () => {
  for (const engine of enginesOfTier) {
    describe(engine.name, () => {
      const stores = engine.stores();
      let store: TestStore;
      let storage: KnexStorage;
      let knex: Knex;
      /** The connections of another program. */
      let others: Knex;
      beforeEach(async () => {
        store = await stores.create();
        storage = await stores.open(store);
        ({ knex } = storage);
        ({ knex: others } = await stores.open(store));
        await knex.schema.createTable('orders', (table) => table.integer('number').primary());
      });

      const expectStored = async (plants: readonly number[], orders: readonly number[]) => {
        expect((await store.readPlants()).map(({ id }) => Number(id))).to.deep.equal(plants);
        expect(await knex('orders').orderBy('number').pluck('number')).to.deep.equal(orders);
      };

      it('finds stored plants and those of the transaction, which others do not see before it commits', async () => {
        const [stored, mine] = [plant(1, 'stored'), plant(2, 'mine')];
        await storage.add([stored]);
        await knex.transaction(async (transaction) => {
          const repository = joinTransaction(transaction);
          // Within a savepoint of the caller.
          await transaction.transaction(() => repository.add([mine]));
          await transaction('orders').insert({ number: 1 });
          expect(await readPlants(storage)).to.deep.equal([stored]);
          expect(await readPlants(repository)).to.deep.equal([stored, mine]);
          expect(await repository.add([plant(1), plant(2), plant(3)])).to.deep.equal([
            { kind: 'conflict', stored },
            { kind: 'conflict', stored: mine },
            ADDED,
          ]);
        });
        await expectStored([1, 2, 3], [1]);
      });

      it('goes on with a transaction in which the engine has rejected a plant, alone and among others', async () => {
        await store.run(engine.rejectPoison);
        await knex.transaction(async (transaction) => {
          const repository = joinTransaction(transaction);
          await transaction('orders').insert({ number: 1 });
          expect(await repository.add([plant(9, 'poison')])).to.have.nested.property('[0].kind', 'rejected');
          const outcomes = await repository.add([plant(1), plant(2, 'poison'), plant(3)]);
          expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['added', 'rejected', 'added']);
          await transaction('orders').insert({ number: 2 });
        });
        await expectStored([1, 3], [1, 2]);
      });

      it('finds a plant that was stored after its first read, or must run again', async () => {
        const addAfterWinner = (id: number, config?: Knex.TransactionConfig) =>
          knex.transaction(async (transaction) => {
            await transaction('plants').select('name');
            await others('plants').insert({ id, name: 'winner' });
            return joinTransaction(transaction).add([plant(id), plant(id + 1)]);
          }, config);
        if (engine === sqliteEngine) {
          await expectToRunAgain(addAfterWinner(1));
          await expectStored([1], []);
        } else expect(await addAfterWinner(1)).to.deep.equal([{ kind: 'conflict', stored: plant(1, 'winner') }, ADDED]);
        if (engine.client === 'pg') await expectToRunAgain(addAfterWinner(3, { isolationLevel: 'repeatable read' }));
      });

      it('rejects calls after a failure, also those made before it and those after a savepoint that failed', async () => {
        await knex.raw('ALTER TABLE plants RENAME TO moved');
        const transaction = await knex.transaction();
        await transaction('orders').insert({ number: 1 });
        const inSavepoint = transaction.transaction(async (savepoint) => {
          await Promise.all([
            expectFailure(add(savepoint, 1), /: the storage is unavailable/),
            expectFailure(add(savepoint, 2), /: an earlier call failed; roll back the transaction$/),
          ]);
          throw new RangeError('mine');
        });
        expect(await catchError(inSavepoint)).to.be.instanceOf(RangeError);
        await expectFailure(add(transaction, 3), /: an earlier call failed; roll back the transaction$/);
        await transaction.rollback();
        await expectFailure(add(transaction, 4), /: the transaction has ended$/);
        await knex.raw('ALTER TABLE moved RENAME TO plants');
        await expectStored([], []);
      });

      it('stores neither plants nor an order when the caller rolls back, even during a call', async () => {
        for (let attempt = 0; attempt < 300; attempt++) {
          const transaction = await knex.transaction();
          await transaction('orders').insert({ number: attempt });
          await add(transaction, 2 * attempt);
          const adding = Promise.allSettled([add(transaction, 2 * attempt + 1)]);
          // The rollback meets each step of the call.
          for (let step = 0; step < attempt % 6; step++) await Promise.resolve();
          await transaction.rollback();
          await adding;
        }
        await expectStored([], []);
      });

      if (engine !== sqliteEngine)
        it('stores no plant without its order after a deadlock, and says that the transaction must run again', async () => {
          await knex('orders').insert([{ number: 1 }, { number: 2 }]);
          const other = await others.transaction();
          // More rows, because InnoDB rolls back the smaller transaction.
          await other('orders').insert([3, 4, 5, 6, 7].map((number) => ({ number })));
          await other('plants').insert({ id: 1, name: 'x' });
          const mine = await knex.transaction();
          await mine('orders').where({ number: 1 }).update({ number: 10 });
          const adding = expectToRunAgain(add(mine));
          await waitForLock(knex);
          // Knex sends a statement when it gets a handler.
          const updating = other('orders').where({ number: 1 }).update({ number: 11 }).then();
          await adding;
          await mine.rollback();
          await updating;
          await other.rollback();
          await expectStored([], [1, 2]);
        });
    });
  }

  it('rejects what is not a transaction on a supported driver', () => {
    expect(() => joinTransaction(Object({}))).to.throw(TypeError, 'joinTransaction needs a Knex transaction');
    const onOracle = Object({ isTransaction: true, client: { driverName: 'oracledb' } });
    expect(() => joinTransaction(onOracle)).to.throw(TypeError, 'not oracledb');
  });
});
