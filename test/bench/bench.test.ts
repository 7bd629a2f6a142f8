import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Comparison } from './compare.js';
import { checkLoads } from './load.js';

describe('The benchmarks', () => {
  it('measure contenders in turn, forwards and backwards, and relate their figures round by round', async () => {
    const measured: string[] = [];
    const figures = { a: [2, 4, 9], b: [1, 10, 3] };
    const comparison = new Comparison(['first', 'second'], (line) => measured.push(line));
    await comparison.add(['a', 'b'] as const, 3, async (key) => ({ rate: figures[key].shift() ?? 0 }));
    expect(measured.map((line) => line.split(': ')[1])).to.deep.equal([
      'first',
      'second',
      'second',
      'first',
      'first',
      'second',
    ]);
    expect(comparison.toTable().split('\n')).to.deep.equal([
      '| | rate |',
      '|---|--:|',
      '| first | 4 (2–9) |',
      '| second | 3 ×0.50 (0.33–2.50) |',
    ]);
  });

  const load = { responses: 100, failures: 0, broken: 0, rate: 1, connections: 4 };
  const killed = { ...load, responses: 10, broken: 4 };

  it('accept a plant per response, one more per connection of each load, and a program that stores nothing', () => {
    for (const rows of [110, 118, undefined]) checkLoads([load], killed, rows);
  });

  it('reject a round with lost or surplus plants, failures, broken connections or no responses', () => {
    const check = (whole: object, last: object, rows: number) => () =>
      checkLoads([{ ...load, ...whole }], { ...killed, ...last }, rows);
    expect(check({}, {}, 119)).to.throw('119 plants for 110 responses and 8 in flight');
    expect(check({}, {}, 109)).to.throw('1 of 110 acknowledged plants are missing');
    expect(check({}, { failures: 1 }, 110)).to.throw('1 responses were not 200');
    expect(check({ broken: 1 }, {}, 110)).to.throw('connections broke');
    expect(check({ responses: 0 }, {}, 10)).to.throw('a load got no response');
    expect(check({}, { responses: 0 }, 100)).to.throw('a load got no response');
  });
});
