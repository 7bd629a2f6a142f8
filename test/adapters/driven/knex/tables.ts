import type { Dialect } from '#adapters/driven/knex/dialect.js';
import { postgres } from '#adapters/driven/knex/postgres.js';
import { sqlite } from '#adapters/driven/knex/sqlite.js';

/** Tables of plants that an earlier version or another program has created. */
interface Tables {
  /** A type that keeps every string. */
  readonly text: string;
  /** The columns of an earlier version. */
  readonly earlier: string;
  /** Columns of which each has a type that does not keep every plant. */
  readonly lossy: readonly string[];
  /** The statements that create a table of other types and columns, which keeps every plant. */
  readonly accepted: readonly string[];
}

const sqliteTables: Tables = {
  text: 'TEXT',
  earlier: '(id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT',
  lossy: [
    'id REAL PRIMARY KEY, name STRING NOT NULL, tag BLOB',
    'id TEXT PRIMARY KEY, name NUMERIC NOT NULL, tag REAL',
    'id NUMERIC PRIMARY KEY, name CHARINT NOT NULL, tag STRING',
  ],
  accepted: [
    "CREATE TABLE plants (ID bigint PRIMARY KEY, Name VARCHAR(9) NOT NULL, tag, soil TEXT NOT NULL DEFAULT 'wet')",
  ],
};

const postgresTables: Tables = {
  text: 'TEXT',
  earlier: '(id bigint PRIMARY KEY, name text NOT NULL, tag text)',
  lossy: [
    'id INTEGER PRIMARY KEY, name CHARACTER(50) NOT NULL, tag JSON',
    'id NUMERIC PRIMARY KEY, name CHARACTER VARYING(50) NOT NULL, tag NAME',
  ],
  accepted: [
    'CREATE DOMAIN label AS text CHECK (length(VALUE) > 0)',
    `CREATE TABLE plants (id int8, name label NOT NULL, tag varchar COLLATE "C", soil text NOT NULL DEFAULT 'wet',
      seq int GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (id) INCLUDE (name))`,
  ],
};

const TEXT = 'longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
const mysqlTables: Tables = {
  text: TEXT,
  earlier: `(id bigint(20) NOT NULL PRIMARY KEY, name ${TEXT} NOT NULL, tag ${TEXT} DEFAULT NULL)`,
  lossy: [
    'id INT PRIMARY KEY, name CHAR(50) NOT NULL, tag VARCHAR(255)',
    'id BIGINT UNSIGNED PRIMARY KEY, name TEXT NOT NULL, tag LONGTEXT CHARACTER SET latin1',
    'id DECIMAL(20) PRIMARY KEY, name LONGBLOB NOT NULL, tag TEXT',
  ],
  accepted: [
    `CREATE TABLE plants (ID BIGINT PRIMARY KEY, name MEDIUMTEXT CHARACTER SET utf8mb4 NOT NULL, tag ${TEXT},
      soil VARCHAR(9) NOT NULL DEFAULT 'wet', seq INT NOT NULL AUTO_INCREMENT UNIQUE)`,
  ],
};

export function tablesOf(dialect: Dialect): Tables {
  if (dialect === sqlite) return sqliteTables;
  return dialect === postgres ? postgresTables : mysqlTables;
}
