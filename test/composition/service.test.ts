import { after, before, describe, it } from 'mocha';
import { httpContract } from '../contract/http/index.js';
import { testEngines } from '../support/engines.js';
import { startService, type TestService, TOKEN } from '../support/service.js';

/** Topics of the HTTP contract whose cases depend on the storage. */
const TOPICS = ['specification', 'responses', 'ids', 'texts', 'conflicts'];

for (const engine of testEngines) {
  describe(`The service on ${engine.name}`, () => {
    const stores = engine.stores();
    let service: TestService;
    let baseUrl: string;
    before(async () => {
      service = await startService({ DATABASE_URL: (await stores.create()).url });
      baseUrl = `http://127.0.0.1:${service.port}`;
    });
    after(() => service.stop());

    for (const { topic, name, timeoutMs, run } of httpContract.filter((each) => TOPICS.includes(each.topic))) {
      it(`meets the HTTP contract: ${topic}: ${name}`, () => run({ baseUrl, token: TOKEN })).timeout(timeoutMs);
    }
  });
}
