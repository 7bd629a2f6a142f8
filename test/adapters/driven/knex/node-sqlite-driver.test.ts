import { isBuiltin } from 'node:module';
import { before, describe } from 'mocha';
import { skipUnless } from '../../../support/skip-unless.js';
import { testSqliteDriver } from './sqlite-driver.js';

describe('Knex on node:sqlite', () => {
  before(function () {
    skipUnless(this, isBuiltin('node:sqlite'), 'node:sqlite of Node 22.13 or newer', true);
  });

  testSqliteDriver('node:sqlite');
});
