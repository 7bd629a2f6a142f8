import { once } from 'node:events';
import { get } from 'node:http';
import type { Config } from '../config.js';
import { toReason } from '../describe-error.js';
import { limitTime } from '../time-limit.js';
import { print } from './output.js';

/** Maximum time for a response, in seconds: less than the timeout of the Containerfile. */
const MAX_SECONDS = 4;

/** Prints the health of a service with these settings. */
export async function run({ managementHost: host, managementPort: port }: Config): Promise<number> {
  if (port === 'off' || port === 0) {
    await print(`not configured: MANAGEMENT_PORT is ${port}\n`);
    return 0;
  }
  // `fetch` needs 8 MB more of a container's memory limit. The global agent may use a proxy.
  const request = get({ host, port, path: '/healthz', agent: false }).on('error', () => {});
  const check = once(request, 'response').then(([{ statusCode }]) => {
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
  });
  const work = limitTime(check, MAX_SECONDS * 1000, `no response within ${MAX_SECONDS} seconds`);
  const problem = await work.then(() => undefined, toReason);
  await print(problem === undefined ? 'healthy\n' : `unhealthy: ${problem}\n`);
  return problem === undefined ? 0 : 1;
}
