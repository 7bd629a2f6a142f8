import type { Dialect } from '#adapters/driven/knex/dialect.js';
import { mysql } from '#adapters/driven/knex/mysql.js';
import { postgres } from '#adapters/driven/knex/postgres.js';
import { sqlite } from '#adapters/driven/knex/sqlite.js';
import type { TestPlant } from '../../../support/plants.js';

/** The plants of a store that an earlier version has written, whose table of migrations has more columns. */
export const EARLIER_PLANTS: readonly TestPlant[] = [
  { id: -(2n ** 63n), name: 'Aloe vera' },
  { id: 2n ** 53n + 1n, name: 'Crème 🌵', tag: '' },
];

const INSERTS = [
  "INSERT INTO plant_store_migrations (name, batch, migration_time) VALUES ('001_plants', 1, '2026-11-23 12:00:00')",
  "INSERT INTO plants VALUES (-9223372036854775808, 'Aloe vera', NULL), (9007199254740993, 'Crème 🌵', '')",
];
const SQLITE_STORE = [
  `CREATE TABLE plant_store_migrations
    (id integer not null primary key autoincrement, name varchar(255), batch integer, migration_time datetime)`,
  'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT',
  ...INSERTS,
  `PRAGMA application_id = ${0x504c4e54}`,
  'PRAGMA journal_mode = WAL',
];
const POSTGRES_STORE = [
  `CREATE TABLE plant_store_migrations
    (id serial PRIMARY KEY, name character varying(255), batch integer, migration_time timestamp with time zone)`,
  'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)',
  ...INSERTS,
];
const TEXT = 'longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
const MYSQL_STORE = [
  `CREATE TABLE plant_store_migrations (id int(10) unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name varchar(255) DEFAULT NULL, batch int(11) DEFAULT NULL, migration_time timestamp NULL DEFAULT NULL)`,
  `CREATE TABLE plants (id bigint(20) NOT NULL PRIMARY KEY, name ${TEXT} NOT NULL, tag ${TEXT} DEFAULT NULL)`,
  'CREATE TABLE plant_store_log_syncs (id tinyint(4) NOT NULL PRIMARY KEY, syncs bigint(20) NOT NULL)',
  ...INSERTS,
  "INSERT INTO plant_store_migrations (name) VALUES ('002_log_syncs')",
];

/** The statements that create the store, as the dumps of the engines have them. */
export const EARLIER_STORES: ReadonlyMap<Dialect, readonly string[]> = new Map([
  [sqlite, SQLITE_STORE],
  [postgres, POSTGRES_STORE],
  [mysql, MYSQL_STORE],
]);
