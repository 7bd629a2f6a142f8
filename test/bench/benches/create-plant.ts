import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { inRepository } from '../../support/paths.js';
import type { Bench } from '../harness/bench.js';
import { numbersIn } from '../harness/numbers.js';
import { number } from '../report/figures.js';

const PLANTS = 1_000_000;

export const createPlant: Bench = {
  name: 'create-plant',
  about: 'the CreatePlant use case on the memory repository, without HTTP',
  async run({ quick, say }) {
    const program = inRepository('dist/test/bench/harness/create-plant-load.js');
    const execute: number[] = [];
    const executeAll: number[] = [];
    for (let round = 1; round <= (quick ? 1 : 5); round++) {
      const { stdout } = await promisify(execFile)(process.execPath, [program, `${PLANTS}`]);
      const rate = numbersIn(stdout);
      execute.push(rate('execute'));
      executeAll.push(rate('executeAll'));
      say(`round ${round}: ${stdout.trim()}`);
    }
    return {
      title: 'CreatePlant, no HTTP',
      how: `${number(PLANTS, 0)} plants with ascending ids, stored in a Map by a single thread. Each round is a new process.`,
      tables: [
        {
          head: 'call',
          columns: [{ key: 'rate', title: 'plants/s', digits: 0 }],
          rows: [
            { name: '`execute`, sequentially', cells: { rate: execute } },
            { name: '`executeAll` of 1,000', cells: { rate: executeAll } },
          ],
        },
      ],
      ratios: [
        { work: 'CreatePlant on the memory repository, no HTTP', samples: execute, atLeast: 500_000, unit: '/s' },
      ],
    };
  },
};
