import { readFile } from 'node:fs/promises';
import { StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { describeError, toReason } from '../../composition/describe-error.js';
import { catchError } from '../support/catch-error.js';
import { CANARY } from '../support/secret-leaks.js';

describe('describeError', () => {
  const parseError = () => catchError((async () => JSON.parse(CANARY))());
  /** Returns an error as Knex throws it: with the SQL in its message. */
  const knexError = () =>
    Object.assign(new Error(`insert into plants values ('${CANARY}')`), { code: 'SQLITE_ERROR', sql: CANARY });

  it('has the class, the code, a safe message, the location and every cause', async () => {
    const middle = new RangeError('too many pots', { cause: await parseError() });
    const description = describeError(new TypeError('no soil', { cause: middle }));
    expect(description).to.deep.include({ type: 'TypeError', message: 'no soil' });
    expect(description).to.have.nested.property('cause.message', 'too many pots');
    expect(description).to.have.nested.property('cause.cause.type', 'SyntaxError');
    expect(description)
      .to.have.nested.property('cause.cause.stack')
      .that.matches(/^at JSON\.parse .*\n {4}at .*describe-error\.test\.js:\d+:\d+/);
    const systemError = await catchError(readFile('/no/such/file'));
    expect(describeError(systemError)).to.have.property('message').that.includes('/no/such/file');
    const inversifyError = Object.assign(new Error('No bindings found'), { kind: 'planning' });
    expect(describeError(inversifyError)).to.include({ message: 'No bindings found' });
  });

  it('leaves out the stack of an expected failure', () => {
    const error = new StorageUnavailable('the storage is full', { cause: knexError() });
    const [type, code] = ['StorageUnavailable', 'STORAGE_UNAVAILABLE'];
    const cause = { type: 'Error', code: 'SQLITE_ERROR', message: undefined, stack: undefined, cause: undefined };
    expect(describeError(error)).to.deep.equal({ type, code, message: 'the storage is full', stack: undefined, cause });
  });

  it('never has user data', async () => {
    const failure = { syscall: 'read', code: 'ECONNRESET' };
    const stackFrames = `\n    at ${CANARY}\n    at ${CANARY}\u2028    at ${CANARY}`;
    for (const [source, error] of [
      ['the body that JSON.parse quotes', await parseError()],
      ['an error of Knex', knexError()],
      ['SQL before a failed system call', Object.assign(new Error(`${CANARY} - read ECONNRESET`), failure)],
      ['a cause that is not an error', new Error('', { cause: { token: CANARY } })],
      ['a message that looks like a stack', Object.assign(new Error(stackFrames), { sql: CANARY })],
      ['a value that is not an error', CANARY],
    ] as const)
      expect(JSON.stringify(describeError(error)), source).not.to.include(CANARY);
  });
});

it('toReason is the message, or the code if there is none, and names the user that lacks a permission', () => {
  const locked = Object.assign(new Error('locked'), { code: 'EACCES' });
  for (const [error, reason] of [
    // The error of a host name with several addresses.
    [Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    [locked, `locked for uid ${process.getuid?.()}`],
    [new Error('locked', { cause: locked }), `locked for uid ${process.getuid?.()}`],
    [Object.assign(new Error('getcwd'), { syscall: 'uv_cwd' }), 'the working directory no longer exists'],
  ] as const)
    expect(toReason(error)).to.equal(reason);
});
