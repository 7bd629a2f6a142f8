import { expect } from 'chai';
import { describe, it } from 'mocha';
import { scattered } from './harness/ids.js';
import { linearFit, median, ratios } from './harness/statistics.js';

describe('The benchmark statistics', () => {
  it('median returns the middle value, or the mean of the two middle values', () => {
    expect(median([3, 1, 2])).to.equal(2);
    expect(median([4, 1, 2, 10])).to.equal(3);
    expect(() => median([])).to.throw(RangeError);
  });

  it('ratios divides the samples round by round', () => {
    expect(ratios([2, 9], [1, 3])).to.deep.equal([2, 3]);
    expect(() => ratios([2], [1, 3])).to.throw(RangeError);
  });

  it('linearFit finds the intercept and slope of a line', () => {
    const { intercept, slope } = linearFit([1, 8, 128].map((x) => [x, 5 + 2 * x] as const));
    expect(intercept).to.be.closeTo(5, 1e-9);
    expect(slope).to.be.closeTo(2, 1e-9);
  });

  it('scattered returns distinct safe integers', () => {
    const ids = new Set(Array.from({ length: 10_000 }, (_, number) => scattered(1e9 + number)));
    expect(ids.size).to.equal(10_000);
    expect([...ids].every((id) => id >= 0 && id < 2 ** 52 && Number.isInteger(id))).to.equal(true);
  });
});
