import { once } from 'node:events';
import { get } from 'node:http';
import type { Config } from '../config.js';
import { limitTime } from '../time-limit.js';
import { print } from './output.js';

/** Maximum time for a response, in seconds. Less than that of the check in the Containerfile. */
const MAX_SECONDS = 4;

/** Says whether a service with these settings is healthy. */
export async function run({ managementHost: host, managementPort: port }: Config): Promise<number> {
  const check = async () => {
    // `fetch` needs 8 MB more, which count towards the memory limit of a container. An agent may use a proxy.
    const [{ statusCode }] = await once(get({ host, port, path: '/healthz', agent: false }), 'response');
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
  };
  const isConfigured = port !== 'off' && port !== 0;
  try {
    if (isConfigured) await limitTime(check(), MAX_SECONDS * 1000, `no response within ${MAX_SECONDS} seconds`);
    await print(isConfigured ? 'healthy\n' : `not configured: MANAGEMENT_PORT is ${port}\n`);
    return 0;
  } catch (error) {
    // If a name has several addresses, the message is empty.
    const { message, code } = Object(error);
    await print(`unhealthy: ${message || code}\n`);
    return 1;
  }
}
