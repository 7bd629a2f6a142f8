import { expect } from 'chai';
import { describe, it } from 'mocha';
import { compare } from './compare.js';
import { checkRound } from './load.js';

describe('The benchmarks', () => {
  it('measure contenders in turn, and relate their figures round by round', async () => {
    const figures = [2, 1, 10, 5, 9, 3, 20, 20, 4, 4, 30, 3];
    const rate = async () => ({ rate: figures.shift() ?? 0 });
    const time = async () => ({ time: figures.shift() ?? 0 });
    const reported: string[] = [];
    const table = await compare([{ name: 'a' }, { name: 'b' }], [rate, time], 3, (line) => reported.push(line));
    expect(reported[1]).to.equal('round 1: b: {"rate":1}');
    expect(table.split('\n').filter((line) => !line.startsWith('|--'))).to.deep.equal([
      '| | rate | time |',
      '| a | 4 (2–9) | 20 (10–30) |',
      '| b | 3 ×0.5 (0.33–1) | 5 ×0.5 (0.1–1) |',
    ]);
  });

  const load = { responses: 100, failures: 0, broken: 0, rate: 1, p99Ms: 1, connections: 4 };
  const killed = { ...load, responses: 10, broken: 4 };

  it('accept a plant per response, one more per connection of each load, and a program that stores nothing', () => {
    for (const rows of [110, 118, undefined]) checkRound([load], killed, rows);
  });

  it('reject a round with lost or surplus plants, failures, broken connections or no responses', () => {
    const check = (whole: object, last: object, rows: number) => () =>
      checkRound([{ ...load, ...whole }], { ...killed, ...last }, rows);
    expect(check({}, {}, 119)).to.throw('119 plants for 110 responses and 8 in flight');
    expect(check({}, {}, 109)).to.throw('1 of 110 acknowledged plants are missing');
    expect(check({}, { failures: 1 }, 110)).to.throw('1 responses were not 200');
    expect(check({ broken: 1 }, {}, 110)).to.throw('connections broke');
    expect(check({ responses: 0 }, {}, 10)).to.throw('a load got no response');
  });
});
