import { mkdtempSync, rmdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

  it('includes the class, the code, a safe message, every cause and its location', async () => {
    const middle = new Error('from a plugin', { cause: await parseError() });
    const description = describeError(new TypeError('no soil', { cause: middle }));
    expect(description).to.include({ type: 'TypeError', message: 'no soil' });
    expect(description).to.have.nested.property('cause.message', 'from a plugin');
    expect(description).to.have.nested.property('cause.cause.type', 'SyntaxError');
    expect(description)
      .to.have.nested.property('cause.cause.stack')
      .that.matches(/^at JSON\.parse .*\n {4}at .*describe-error\.test\.js:\d+:\d+/);
    expect(describeError(new RangeError('too many pots'))).to.include({ message: 'too many pots' });
    const ofInversify = Object.assign(new Error('No bindings found'), { kind: 'planning' });
    expect(describeError(ofInversify)).to.include({ message: 'No bindings found' });
    expect(describeError('no water')).to.deep.equal({ type: 'string' });
    expect(describeError(knexError())).to.include({ type: 'Error', code: 'SQLITE_ERROR' });
    const systemError = await catchError(readFile('/no/such/file'));
    expect(describeError(systemError)).to.have.property('message').that.includes('/no/such/file');
  });

  it('leaves out the stack of an expected failure', () => {
    const error = new StorageUnavailable('the storage is full', { cause: knexError() });
    expect(describeError(error)).to.deep.include({
      ...{ type: 'StorageUnavailable', code: 'STORAGE_UNAVAILABLE', message: 'the storage is full', stack: undefined },
      cause: { type: 'Error', code: 'SQLITE_ERROR', message: undefined, stack: undefined, cause: undefined },
    });
  });

  it('never includes user data', async () => {
    for (const [source, error] of [
      ['the body that JSON.parse quotes', await parseError()],
      ['the message and other members of an error of Knex', knexError()],
      [
        'the SQL that Knex adds to the message of a failed system call',
        Object.assign(new Error(`${CANARY} - read ECONNRESET`), { syscall: 'read', code: 'ECONNRESET' }),
      ],
      ['a cause that is not an error', new Error('', { cause: { token: CANARY } })],
      [
        'lines of a message that look like stack frames',
        Object.assign(new Error(`\n    at ${CANARY}\n    at ${CANARY}\u2028    at ${CANARY}`), { sql: CANARY }),
      ],
    ] as const)
      expect(JSON.stringify(describeError(error)), source).not.to.include(CANARY);
  });
});

describe('toReason', () => {
  it('says that the working directory no longer exists', () => {
    const cwd = process.cwd();
    const folder = mkdtempSync(join(tmpdir(), 'removed-'));
    process.chdir(folder);
    rmdirSync(folder);
    try {
      expect(() => process.cwd())
        .to.throw()
        .that.satisfies((error: unknown) => {
          return toReason(error) === 'the working directory no longer exists';
        });
    } finally {
      process.chdir(cwd);
    }
  });

  it('is the code of an error without a message, such as that of a name with several addresses', () => {
    expect(toReason(Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }))).to.equal('ECONNREFUSED');
  });

  it('names the user that lacks a permission', () => {
    const cause = Object.assign(new Error('locked'), { code: 'EACCES' });
    for (const error of [cause, new Error('locked', { cause })])
      expect(toReason(error)).to.equal(`locked for uid ${process.getuid?.()}`);
  });
});
