import { expect } from 'chai';
import { describe, it } from 'mocha';
import { isInTime } from '../../composition/time-limit.js';
import { catchError } from '../support/catch-error.js';

describe('isInTime', () => {
  it('returns whether work resolves in time', async () => {
    expect(await isInTime(Promise.resolve(), 60_000)).to.equal(true);
    expect(await isInTime(new Promise(() => {}), 1)).to.equal(false);
  });

  it('rejects if work rejects in time', async () => {
    expect(await catchError(isInTime(Promise.reject(new Error('no soil')), 60_000))).to.match(/no soil/);
  });
});
