import { expect } from 'chai';
import { describe, it } from 'mocha';
import { compare } from './compare.js';
import { checkRound } from './load.js';

describe('The benchmarks', () => {
  it('measure contenders in turn, and relate their figures round by round', async () => {
    const figures = [2, 1, 9, 3, 4, 4];
    const measure = async () => ({ rate: figures.shift() ?? 0 });
    const table = await compare(
      [
        { name: 'a', measure },
        { name: 'b', measure, baseline: 'a' },
      ],
      3,
    );
    expect(table.split('\n').slice(2, 4)).to.deep.equal(['| a | 4 (2–9) |', '| b | 3 (1–4) × 0.5 (0.333–1) |']);
  });

  const load = { responses: 100, failures: 0, broken: 0, rate: 1, p99Ms: 1, connections: 4 };
  const killed = { ...load, responses: 10, broken: 4 };
  for (const [what, whole, last, rows, reason] of [
    ['accept a plant per response', load, killed, 110, undefined],
    ['accept one more per connection of each load', load, killed, 118, undefined],
    ['reject more', load, killed, 119, '119 plants for 110 responses and 8 in flight'],
    ['accept a program that stores nothing', load, killed, undefined, undefined],
    ['reject a lost acknowledged plant', load, killed, 109, '1 of 110 acknowledged plants are missing'],
    ['reject an error response', load, { ...killed, failures: 1 }, 110, '1 responses were not 200'],
    ['reject a broken connection', { ...load, broken: 1 }, killed, 110, 'connections broke'],
    ['reject a load without a response', { ...load, responses: 0 }, killed, 10, 'a load got no response'],
  ] as const) {
    it(what, () => {
      const check = () => checkRound([whole], last, rows);
      if (reason === undefined) check();
      else expect(check).to.throw(reason);
    });
  }
});
