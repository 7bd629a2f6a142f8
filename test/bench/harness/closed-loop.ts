import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { inRepository } from '../../support/paths.js';
import { firstIdOfLoad, type IdOrder } from './ids.js';
import { numbersIn } from './numbers.js';
import type { LoadCounts } from './run-check.js';
import { TOKEN } from './server.js';

/** Results of a closed loop, in which each connection sends its next request after a response. */
export interface ClosedLoop extends LoadCounts {
  /** Requests per second. */
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The load generator: wrk, or autocannon if wrk is not installed. */
export const generator: { readonly name: string; readonly version: string } = (() => {
  const { stdout } = spawnSync('wrk', ['-v'], { encoding: 'utf8' });
  const version = /^wrk (\S+)/.exec(stdout ?? '')?.[1];
  return version === undefined ? { name: 'autocannon', version: '' } : { name: 'wrk', version };
})();

/** A response that takes longer counts as broken. */
const TIMEOUT_SECONDS = 10;

/** Sends creates over `connections` connections from one thread. */
export async function closedLoop(
  port: number,
  connections: number,
  seconds: number,
  ids: IdOrder = 'ascending',
): Promise<ClosedLoop> {
  const url = `http://127.0.0.1:${port}/plants`;
  const firstId = `${firstIdOfLoad()}`;
  const script = inRepository('test/bench/harness/wrk.lua');
  const fallback = inRepository('test/bench/peers/autocannon-load.js');
  const wrk = [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    `${TIMEOUT_SECONDS}s`,
    '-s',
    script,
    url,
    '--',
    TOKEN,
    firstId,
    ids,
  ];
  const { stdout } =
    generator.name === 'wrk'
      ? await promisify(execFile)('wrk', wrk)
      : await promisify(execFile)(process.execPath, [
          fallback,
          url,
          `${connections}`,
          `${seconds}`,
          TOKEN,
          firstId,
          ids,
        ]);
  const number = numbersIn(stdout.trim().split('\n').at(-1) ?? '');
  return {
    responses: number('responses'),
    failures: number('failures'),
    broken: number('broken'),
    connections,
    rate: number('responses') / number('seconds'),
    p50Ms: number('p50Us') / 1000,
    p99Ms: number('p99Us') / 1000,
  };
}
