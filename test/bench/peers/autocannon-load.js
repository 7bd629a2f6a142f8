// For machines without wrk: generates the same load with autocannon and prints the same line of JSON as wrk.lua.
import autocannon from 'autocannon';
import { scattered } from '../../../dist/test/bench/harness/ids.js';

const [url, connections, duration, token, firstId, order] = process.argv.slice(2);
let nextId = Number(firstId);

const result = await autocannon({
  url,
  connections: Number(connections),
  duration: Number(duration),
  requests: [
    {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      setupRequest(request) {
        const id = order === 'scattered' ? scattered(nextId) : nextId;
        nextId += 1;
        return { ...request, body: `{"id":${id},"name":"Monstera ${id}","tag":"indoor"}` };
      },
    },
  ],
});

console.log(
  JSON.stringify({
    responses: result['2xx'] + result.non2xx,
    seconds: result.duration,
    failures: result.non2xx,
    broken: result.errors + result.timeouts,
    p50Us: result.latency.p50 * 1000,
    p99Us: result.latency.p99 * 1000,
  }),
);
