import { joinTransaction } from '@plant-store/adapters/knex';
import { CreatePlant, type NewPlant } from '@plant-store/core';
import type { Knex } from 'knex';

/** PostgreSQL's codes after which a transaction should run again: a serialization failure, a deadlock. */
const RUN_AGAIN = ['40001', '40P01'];
const MAX_ATTEMPTS = 5;
/** Maximum number of events per transaction of the relay. */
const MAX_EVENTS = 100;

/** Creates the tables of orders and events, beside the table of plants. */
export async function createTables(knex: Knex): Promise<void> {
  await knex.schema.createTable('orders', (table) => {
    table.string('number').primary();
    table.bigInteger('plant_id').notNullable().references('plants.id');
  });
  await knex.schema.createTable('outbox', (table) => {
    table.increments('id');
    table.jsonb('event').notNullable();
  });
}

/**
 * Stores an order, its plant and an event, or nothing. Returns `placed` or why the plant was not created. If it throws
 * because the connection failed during the commit, the order may be stored.
 */
export async function placeOrder(knex: Knex, number: string, newPlant: NewPlant): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const transaction = await knex.transaction();
    try {
      const createPlant = new CreatePlant(joinTransaction(transaction));
      const { kind } = await createPlant.execute(newPlant);
      if (kind !== 'created') {
        await transaction.rollback();
        return kind;
      }
      const plantId = `${newPlant.id}`;
      await transaction('orders').insert({ number, plant_id: plantId });
      await transaction('outbox').insert({ event: JSON.stringify({ type: 'order-placed', number, plantId }) });
      await transaction.commit();
      // Unlike commit, rejects if COMMIT fails.
      await transaction.executionPromise;
      return 'placed';
    } catch (error) {
      await transaction.rollback();
      if (attempt === MAX_ATTEMPTS || !RUN_AGAIN.includes(codeOf(error))) throw error;
    }
  }
}

/** Returns PostgreSQL's code, which is in the cause of a StorageUnavailable. */
function codeOf(error: unknown): string {
  const { cause, code } = error as { cause?: { code?: string }; code?: string };
  return `${cause?.code ?? code}`;
}

/**
 * The relay: publishes the stored events, and deletes them. If it fails or is killed meanwhile, it publishes them again,
 * so consumers ignore an order number that they know. Several relays take turns. Returns the number of events.
 */
export function relayEvents(knex: Knex, publish: (event: object) => Promise<void>): Promise<number> {
  return knex.transaction(async (transaction) => {
    const rows = await transaction('outbox').orderBy('id').limit(MAX_EVENTS).forUpdate();
    for (const { id, event } of rows) {
      await publish(event);
      await transaction('outbox').where({ id }).delete();
    }
    return rows.length;
  });
}
