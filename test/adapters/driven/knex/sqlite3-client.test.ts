import { before, describe } from 'mocha';
import { chooseDriver } from '#adapters/driven/knex/sqlite-file.js';
import { skipUnless } from '../../../support/skip-unless.js';
import { testSqliteClient } from './sqlite-client.js';

describe('Sqlite3Client', () => {
  before(function () {
    skipUnless(this, chooseDriver() === 'sqlite3', 'the package sqlite3', true);
  });

  testSqliteClient('sqlite3', async () => (await import('#adapters/driven/knex/sqlite3-client.js')).Sqlite3Client);
});
