import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { inRepository } from '../../support/paths.js';
import { firstIdOfLoad } from './ids.js';
import { numbersIn } from './numbers.js';
import type { LoadCounts } from './run-check.js';
import { TOKEN } from './server.js';

/** Results of an open loop. Latency is measured from the scheduled time of a request. */
export interface OpenLoop extends LoadCounts {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
}

/** Enough connections that each request finds a free one while the program keeps up. */
const CONNECTIONS = 256;

/** How long the load continues after the measured part, so that its last requests get responses. */
const DRAIN_SECONDS = 2;

/** Sends `rate` creates per second regardless of responses; measures them for `seconds` after `warmUpSeconds`. */
export async function openLoop(
  port: number,
  rate: number,
  { seconds, warmUpSeconds }: { readonly seconds: number; readonly warmUpSeconds: number },
): Promise<OpenLoop> {
  const load = ['-t1', `-c${CONNECTIONS}`, `-d${warmUpSeconds + seconds + DRAIN_SECONDS}s`, '--timeout', '10s'];
  const script = ['-s', inRepository('test/bench/harness/wrk-paced.lua'), `http://127.0.0.1:${port}/plants`];
  const schedule = [firstIdOfLoad(), rate, warmUpSeconds, seconds].map(String);
  const { stdout } = await promisify(execFile)('wrk', [...load, ...script, '--', TOKEN, ...schedule]);
  const number = numbersIn(stdout.trim().split('\n').at(-1) ?? '');
  return {
    responses: number('responses'),
    failures: number('failures'),
    broken: number('broken'),
    connections: CONNECTIONS,
    p50Ms: number('p50Us') / 1000,
    p99Ms: number('p99Us') / 1000,
    p999Ms: number('p999Us') / 1000,
  };
}
