import { before, describe } from 'mocha';
import { chooseDriver } from '#adapters/driven/knex/sqlite-file.js';
import { skipUnless } from '../../../support/skip-unless.js';
import { testSqliteDriver } from './sqlite-driver.js';

describe('Knex on sqlite3 with kept statements', () => {
  before(function () {
    skipUnless(this, chooseDriver() === 'sqlite3', 'the package sqlite3', true);
  });

  testSqliteDriver('sqlite3');
});
