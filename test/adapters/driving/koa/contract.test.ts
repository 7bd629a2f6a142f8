import { after, before, it } from 'mocha';
import { MemoryPlantRepository } from '../../../../adapters/driven/memory/index.js';
import { CreatePlant } from '../../../../core/index.js';
import { type HttpResponse, responseObservers } from '../../../contract/http/connection.js';
import { httpContract } from '../../../contract/http/index.js';
import { observedResponses, toRawResponse } from '../../../support/raw-http.js';
import { httpSuite, sharedServer, TOKEN } from './support.js';

httpSuite('The HTTP contract', () => {
  // One case waits for the headers timeout.
  const createPlant = new CreatePlant(new MemoryPlantRepository());
  const server = sharedServer({ createPlant, docs: true, headersTimeoutMs: 5000 });
  const observe = (firstLine: string, response: HttpResponse) =>
    observedResponses.push({ firstLine, response: toRawResponse(response) });
  before(() => responseObservers.add(observe));
  after(() => responseObservers.delete(observe));
  for (const { topic, name, timeoutMs, run } of httpContract) {
    it(`${topic}: ${name}`, () => run({ baseUrl: `http://127.0.0.1:${server().port}`, token: TOKEN })).timeout(
      timeoutMs,
    );
  }
});
