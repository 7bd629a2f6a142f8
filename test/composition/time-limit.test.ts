import { expect } from 'chai';
import { describe, it } from 'mocha';
import { limitTime } from '../../composition/time-limit.js';
import { catchError } from '../support/catch-error.js';

describe('limitTime', () => {
  it('resolves or rejects as the work does, in time', async () => {
    await limitTime(Promise.resolve(), 60_000, 'late');
    expect(await catchError(limitTime(Promise.reject(new Error('no soil')), 60_000, 'late'))).to.match(/no soil/);
  });

  it('rejects with the problem if the work takes longer', async () => {
    expect(await catchError(limitTime(new Promise(() => {}), 1, 'no water in time'))).to.match(/no water in time/);
  });
});
