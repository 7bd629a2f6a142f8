import { StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toCodes, toMessage, toStorageUnavailable } from '#adapters/driven/knex/driver-errors.js';

/** Returns an error with the codes of a driver. */
function driverError(message: string, codes: object = {}): Error {
  return Object.assign(new Error(message), codes);
}

describe('The error of a driver', () => {
  it('keeps its codes as the cause, without the message, the SQL and the values', () => {
    const error = driverError('insert into "plants" values (secret) - no', {
      ...{ code: 'ER_DUP_ENTRY', errno: 1062, sqlState: '23000' },
      ...{ sql: 'secret', detail: 'secret' },
    });
    const failure = toStorageUnavailable(error);
    expect(failure).to.be.instanceOf(StorageUnavailable);
    expect(failure.message).to.equal('the storage is unavailable (ER_DUP_ENTRY)');
    expect(failure.cause).to.deep.equal({ code: 'ER_DUP_ENTRY', errno: 1062, sqlState: '23000' });
  });

  const knexTimeout = driverError('Knex: Timeout acquiring a connection. The pool is probably full.');
  const missingFile = driverError("ENOENT: no such file or directory, open '/ca.pem'", { code: 'ENOENT' });
  // The tests of servers have other codes.
  for (const { title, error, code } of [
    { title: 'has the code ETIMEDOUT after a timeout of Knex', error: knexTimeout, code: 'ETIMEDOUT' },
    { title: 'has the code ENOENT if a file is missing', error: missingFile, code: 'ENOENT' },
    {
      title: 'has its number as the code if the driver names none',
      error: driverError('', { errno: 1969 }),
      code: '1969',
    },
    {
      title: 'has a code if the server lacks TLS',
      error: driverError('The server does not support SSL connections'),
      code: 'ERR_SSL',
    },
    { title: 'has the class as its code if the driver gives none', error: new TypeError('secret'), code: 'TypeError' },
    { title: 'has the type as its code if it is no error', error: 'secret', code: 'string' },
  ]) {
    it(title, () => expect(toCodes(error).code).to.equal(code));
  }

  it('is shown to operators as its first line, without the SQL that Knex puts before it', () => {
    expect(toMessage(driverError('select\n  1 - database "plants" does not exist\nHINT'))).to.equal(
      'database "plants" does not exist',
    );
    expect(toMessage(driverError('', { code: 'ECONNREFUSED' }))).to.equal('ECONNREFUSED');
    expect(toMessage(driverError('timeout expired'))).to.equal('the server does not respond');
    const denied = driverError("EACCES: permission denied, open '/a - b/plants.db'", { syscall: 'open' });
    expect(toMessage(denied)).to.equal(denied.message);
    expect(toMessage(new StorageUnavailable('a - b'))).to.equal('a - b');
  });
});
