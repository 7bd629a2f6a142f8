import { after, before, it } from 'mocha';
import { MemoryPlantRepository } from '../../../../adapters/driven/memory/index.js';
import { CreatePlant } from '../../../../core/index.js';
import { type HttpResponse, responseObservers } from '../../../contract/http/connection.js';
import { httpContract } from '../../../contract/http/index.js';
import { observedResponses, toRawResponse } from '../../../support/raw-http.js';
import { httpSuite, TOKEN } from './support.js';

/** Number of cases that run concurrently. */
const LANES = 4;

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

  const results: Promise<void>[] = [];
  before(() => {
    // A few at a time, because some cases wait.
    const lanes = Array.from({ length: LANES }, () => Promise.resolve());
    for (const [index, { run }] of httpContract.entries()) {
      const lane = index % LANES;
      const result = Promise.resolve(lanes[lane]).then(() =>
        run({ baseUrl: `http://127.0.0.1:${server().port}`, token: TOKEN }),
      );
      lanes[lane] = result.catch(() => {});
      results.push(result);
    }
  });
  for (const [index, { topic, name, timeoutMs }] of httpContract.entries())
    it(`${topic}: ${name}`, () => results[index]).timeout(timeoutMs);
});
