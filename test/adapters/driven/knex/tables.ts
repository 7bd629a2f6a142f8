import type { Dialect } from '#adapters/driven/knex/dialect.js';
import { postgres } from '#adapters/driven/knex/postgres.js';
import { sqlite } from '#adapters/driven/knex/sqlite.js';

/** Tables of plants that another program may have created. */
interface Tables {
  /** A type that keeps every string. */
  readonly text: string;
  /** Types that do not keep every id. */
  readonly ids: readonly string[];
  /** Types that do not keep every string. */
  readonly texts: readonly string[];
  /** The statements that create a table of other types and columns, which keeps every plant. */
  readonly accepted: readonly (readonly string[])[];
}

const SQLITE_TABLES = {
  text: 'TEXT',
  ids: ['REAL', 'TEXT', 'NUMERIC'],
  texts: ['STRING', 'NUMERIC', 'REAL', 'BLOB', 'CHARINT'],
  accepted: [
    ["CREATE TABLE plants (ID bigint PRIMARY KEY, Name VARCHAR(9) NOT NULL, tag, soil TEXT NOT NULL DEFAULT 'wet')"],
    ['CREATE TABLE plants (id INT PRIMARY KEY, name TEXT NOT NULL, tag TEXT, height ANY) STRICT, WITHOUT ROWID'],
  ],
};
const POSTGRES_TABLES = {
  text: 'TEXT',
  ids: ['INTEGER', 'NUMERIC'],
  texts: ['CHARACTER(50)', 'CHARACTER VARYING(50)', 'JSON', 'NAME'],
  accepted: [
    [
      "CREATE TABLE plants (id int8, name varchar NOT NULL, tag text, soil text NOT NULL DEFAULT 'wet', seq int GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (id) INCLUDE (name))",
    ],
    [
      'CREATE DOMAIN label AS text CHECK (length(VALUE) > 0)',
      'CREATE TABLE plants (id bigint PRIMARY KEY, name label NOT NULL, tag text COLLATE "C")',
    ],
  ],
};
const MYSQL_TABLES = {
  text: 'LONGTEXT CHARACTER SET utf8mb4',
  ids: ['INT', 'INT UNSIGNED', 'BIGINT UNSIGNED', 'DECIMAL(20)'],
  texts: ['CHAR(50)', 'VARCHAR(255)', 'TEXT', 'LONGTEXT CHARACTER SET latin1', 'LONGBLOB'],
  accepted: [
    [
      "CREATE TABLE plants (ID BIGINT PRIMARY KEY, name MEDIUMTEXT CHARACTER SET utf8mb4 NOT NULL, tag LONGTEXT CHARACTER SET utf8mb4, soil VARCHAR(9) NOT NULL DEFAULT 'wet', seq INT NOT NULL AUTO_INCREMENT UNIQUE)",
    ],
  ],
};

export function tablesOf(dialect: Dialect): Tables {
  if (dialect === sqlite) return SQLITE_TABLES;
  return dialect === postgres ? POSTGRES_TABLES : MYSQL_TABLES;
}
