import { expect } from 'chai';
import { after, before, it } from 'mocha';
import { MemoryPlantRepository } from '../../../../adapters/driven/memory/index.js';
import { CreatePlant } from '../../../../core/index.js';
import { type HttpResponse, responseObservers } from '../../../contract/http/connection.js';
import { httpContract } from '../../../contract/http/index.js';
import { observedResponses, toRawResponse } from '../../../support/raw-http.js';
import { httpSuite, TOKEN } from './support.js';

/** Number of cases that run concurrently. */
const CONCURRENT_CASES = 4;

// One case waits for the headers timeout.
const options = {
  createPlant: new CreatePlant(new MemoryPlantRepository()),
  docs: true,
  headersTimeoutMs: 5000,
};

httpSuite('The HTTP contract', options, ({ server }) => {
  const observe = (firstLine: string, response: HttpResponse) =>
    observedResponses.push({ firstLine, response: toRawResponse(response) });
  before(() => responseObservers.add(observe));
  after(() => responseObservers.delete(observe));

  for (const topic of new Set(httpContract.map((each) => each.topic))) {
    it(topic, async () => {
      const target = { baseUrl: `http://127.0.0.1:${server().port}`, token: TOKEN };
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
