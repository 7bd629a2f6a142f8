import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';
import { type Contender, run } from './harness/bench.js';
import { checkRun } from './harness/run-check.js';
import { chartOf, clientsChartOf } from './report/chart.js';
import { generateDocument } from './report/document.js';

describe('The benchmarks', () => {
  it('render docs/benchmarks.md and its charts from docs/benchmarks.json', () => {
    const read = (end: string) => readFileSync(inRepository(`docs/benchmarks${end}`), 'utf8');
    const data = JSON.parse(read('.json'));
    expect(generateDocument(data)).to.equal(read('.md'));
    expect(chartOf(data)).to.equal(read('.svg'));
    expect(clientsChartOf(data)).to.equal(read('-clients.svg'));
  });

  it('measure contenders in turn, and relate their figures round by round', async () => {
    const figures = [2, 1, 9, 3];
    const contenders = ['a', 'b'].map((name): Contender => [name, async () => ({ rate: figures.shift() })]);
    const columns = [{ key: 'rate', title: '', digits: 0 }];
    const ratios = [{ work: 'a / b', of: 'a', against: 'b', atLeast: 1 }];
    const bench = { name: '', title: '', how: '', prepare: () => [{ head: '', columns, contenders, ratios }] };
    const settings = { quick: true, rounds: 2, loadSeconds: 0, warmUpSeconds: 0, folder: '', say() {} };
    const section = await run(bench, settings);
    expect(section.tables[0]?.rows.map(({ cells }) => cells['rate'])).to.deep.equal([
      [2, 9],
      [1, 3],
    ]);
    expect(section.ratios).to.deep.equal([{ work: 'a / b', atLeast: 1, samples: [2, 3] }]);
  });

  const load = { responses: 100, failures: 0, broken: 0, connections: 4 };
  const killed = { ...load, responses: 10, broken: 50 };
  for (const [what, whole, last, rows, reason] of [
    ['accept one row per response', [load, load], killed, 210, undefined],
    ['accept one additional row per connection of each load', [load, load], killed, 222, undefined],
    ['reject further rows', [load, load], killed, 223, '223 rows exceed 210 responses and 12 requests in flight'],
    ['accept a program that stores nothing', [load], killed, undefined, undefined],
    ['reject a lost acknowledged plant', [load, load], killed, 209, '1 of 210 acknowledged plants are missing'],
    ['reject an error response', [{ ...load, failures: 1 }], killed, 110, '1 responses were not 2xx'],
    ['reject an error response at the kill', [load], { ...killed, failures: 2 }, 110, '2 responses were not 2xx'],
    ['reject a broken connection', [{ ...load, broken: 1 }], killed, 110, '1 connections broke or requests timed out'],
    ['reject a load without a response', [{ ...load, responses: 0 }], killed, 10, 'a load got no response'],
  ] as const) {
    it(what, () => {
      const check = () => checkRun(whole, last, rows);
      if (reason === undefined) check();
      else expect(check).to.throw(reason);
    });
  }
});
