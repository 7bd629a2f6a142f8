import { isBuiltin } from 'node:module';
import { before, describe } from 'mocha';
import { skipUnless } from '../../../support/skip-unless.js';
import { testSqliteClient } from './sqlite-client.js';

describe('NodeSqliteClient', () => {
  before(function () {
    skipUnless(this, isBuiltin('node:sqlite'), 'node:sqlite of Node 22.13 or newer', true);
  });

  testSqliteClient(
    'node:sqlite',
    async () => (await import('#adapters/driven/knex/node-sqlite-client.js')).NodeSqliteClient,
  );
});
