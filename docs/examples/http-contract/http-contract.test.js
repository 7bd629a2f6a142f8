// The HTTP contract under node:test. To run one group, add --test-name-pattern='^specification':
//   BASE_URL=http://127.0.0.1:3000 TOKEN=secret node --test http-contract.test.js
import { describe, test } from 'node:test';
import { httpContract } from '@plant-store/contract/http';

const target = { baseUrl: process.env.BASE_URL, token: process.env.TOKEN };

for (const topic of new Set(httpContract.map((each) => each.topic))) {
  describe(topic, () => {
    for (const { group, name, timeoutMs, run } of httpContract.filter((each) => each.topic === topic))
      test(`${group}: ${name}`, { timeout: timeoutMs }, () => run(target));
  });
}
