import { expect } from 'chai';
import { it } from 'mocha';
import { MemoryPlantRepository } from '../../../../adapters/driven/memory/index.js';
import { CreatePlant } from '../../../../core/index.js';
import { httpContract } from '../../../contract/http/index.js';
import { httpSuite, TOKEN } from './support.js';

/** Number of cases that run concurrently. */
const CONCURRENT_CASES = 4;

// One case waits for the headers timeout.
const options = {
  createPlant: new CreatePlant(new MemoryPlantRepository()),
  docs: true,
  headersTimeoutMs: 8000,
};

httpSuite('The HTTP contract', options, ({ server, observe }) => {
  for (const topic of new Set(httpContract.map((each) => each.topic))) {
    it(topic, async () => {
      const target = { baseUrl: `http://127.0.0.1:${server().port}`, token: TOKEN, observe };
      const cases = httpContract.filter((each) => each.topic === topic).values();
      const failures: string[] = [];
      // A few at a time, because some cases wait.
      const runNext = async () => {
        for (const { name, run } of cases) await run(target).catch((error) => failures.push(`${name}: ${error}`));
      };
      await Promise.all(Array.from({ length: CONCURRENT_CASES }, runNext));
      expect(failures).to.deep.equal([]);
    });
  }
});
