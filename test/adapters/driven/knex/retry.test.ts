import { expect } from 'chai';
import { describe, it } from 'mocha';
import { retryWhileBusy } from '#adapters/driven/knex/retry.js';
import { sqlite } from '#adapters/driven/knex/sqlite.js';
import { catchError } from '../../../support/catch-error.js';

describe('A statement is retried', () => {
  const fail = (errno: number) => Object.assign(new Error('failed'), { errno });
  const SQLITE_BUSY = 5;
  const SQLITE_FULL = 13;

  it('while the engine is busy', async () => {
    const failures = [fail(SQLITE_BUSY), fail(SQLITE_BUSY)];
    const work = async () => {
      const failure = failures.shift();
      if (failure) throw failure;
      return 'done';
    };
    expect(await retryWhileBusy(sqlite, 60_000, work)).to.equal('done');
  });

  it('until its time limit', async () => {
    const busy = fail(SQLITE_BUSY);
    expect(await catchError(retryWhileBusy(sqlite, 30, () => Promise.reject(busy)))).to.equal(busy);
  });

  it('not after another error', async () => {
    let attempts = 0;
    const work = async () => {
      attempts++;
      throw fail(SQLITE_FULL);
    };
    await catchError(retryWhileBusy(sqlite, 60_000, work));
    expect(attempts).to.equal(1);
  });
});
