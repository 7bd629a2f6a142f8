import { StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toCodes, toMessage, toStorageUnavailable } from '#adapters/driven/knex/driver-errors.js';

const driverError = (message: string, codes: object = {}) => Object.assign(new Error(message), codes);

describe('The error of a driver', () => {
  it('keeps its codes as the cause, without the message, the SQL and the values', () => {
    const codes = { code: 'ER_DUP_ENTRY', errno: 1062, sqlState: '23000' };
    const error = driverError('insert into "plants" values (secret) - no', { ...codes, sql: 'secret' });
    const failure = toStorageUnavailable(error);
    expect(failure).to.be.instanceOf(StorageUnavailable);
    expect(failure.message).to.equal('the storage is unavailable (ER_DUP_ENTRY)');
    expect(failure.cause).to.deep.equal(codes);
    const inTransaction = toStorageUnavailable(driverError('current transaction is aborted', { code: '25P02' }));
    expect(inTransaction.message).to.equal('an earlier statement failed; roll back (25P02)');
  });

  it('has a code, even if the driver gives none', () => {
    for (const [error, code] of [
      [driverError('Knex: Timeout acquiring a connection. The pool is probably full.'), 'ETIMEDOUT'],
      [driverError('SELECT 1 - Connection terminated unexpectedly'), 'ECONNRESET'],
      [driverError('Client has encountered a connection error and is not queryable'), 'ECONNRESET'],
      [driverError("Can't add new command when connection is in closed state"), 'ECONNRESET'],
      [driverError('The server does not support SSL connections'), 'ERR_SSL'],
      [driverError("ENOENT: no such file or directory, open '/ca.pem'", { code: 'ENOENT' }), 'ENOENT'],
      [driverError('connect ENOENT /no/such/socket', { code: 'ENOENT' }), 'ECONNREFUSED'],
      [driverError('', { errno: 1969 }), '1969'],
      [new TypeError('secret'), 'TypeError'],
      ['secret', 'string'],
    ] as const)
      expect(toCodes(error).code).to.equal(code);
  });

  it('is shown to operators as its first line, without the SQL that Knex puts before it', () => {
    const denied = "EACCES: permission denied, open '/a - b/plants.db'";
    for (const [error, message] of [
      [driverError('select\n  1 - database "plants" does not exist\nHINT'), 'database "plants" does not exist'],
      [driverError('', { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
      [driverError('timeout expired'), 'the server does not respond'],
      [driverError(denied, { syscall: 'open' }), denied],
      [new StorageUnavailable('a - b'), 'a - b'],
    ] as const)
      expect(toMessage(error)).to.equal(message);
  });
});
