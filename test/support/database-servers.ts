import knexFactory, { type Knex } from 'knex';
import { waitUntil } from './wait-until.js';

/** Opens one connection to a server, at the first query. */
export function connectTo({ client, url }: { readonly client: 'pg' | 'mysql2'; readonly url: string }): Knex {
  return knexFactory({ client, connection: url, log: { warn() {}, error() {} }, pool: { min: 0, max: 1 } });
}

/** Returns whether a server responds. */
export function isAvailable(knex: Knex): Promise<boolean> {
  return knex.raw('SELECT 1').then(
    () => true,
    () => false,
  );
}

/** Waits until an insert of plants waits for a lock on the server of `knex`. */
export function waitForLock(knex: Knex): Promise<void> {
  const inPostgres =
    "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO plants%'";
  // A view like `innodb_trx` stays as it is while it is polled.
  const inMysql = "SHOW GLOBAL STATUS WHERE variable_name = 'Innodb_row_lock_current_waits' AND value > 0";
  return waitUntil('an insert waits for a lock', async () => {
    if (knex.client.driverName === 'pg') return (await knex.raw(inPostgres)).rows.length > 0;
    const [rows] = await knex.raw(inMysql);
    return rows.length > 0;
  });
}
