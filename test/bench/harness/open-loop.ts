import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { firstIdOfLoad } from './ids.js';
import { numbersIn } from './numbers.js';
import { inRepository } from './paths.js';
import type { Seen } from './refusal.js';
import { TOKEN } from './server.js';

/** What came of an open loop. Latencies are measured from the moment at which a request was to be sent. */
export interface OpenLoop extends Seen {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** The part of the time for which the generator was held up itself. */
  readonly pausedPercent: number;
}

/** Enough that a request finds one free as long as the program keeps up. */
const CONNECTIONS = 256;

/** Sends creates at a fixed rate a second, whatever the answers do, for `warmUpSeconds` uncounted and then `seconds`. */
export async function openLoop(
  port: number,
  rate: number,
  { seconds, warmUpSeconds }: { readonly seconds: number; readonly warmUpSeconds: number },
): Promise<OpenLoop> {
  const options = {
    port,
    token: TOKEN,
    'first-id': firstIdOfLoad(),
    rate,
    seconds: warmUpSeconds + seconds,
    'warm-up-seconds': warmUpSeconds,
    connections: CONNECTIONS,
  };
  const { stdout } = await promisify(execFile)(process.execPath, [
    // Its collector has no helper threads, which would have to wait for a processor.
    '--single-threaded-gc',
    inRepository('dist/test/bench/harness/open-loop-load.js'),
    ...Object.entries(options).map(([name, value]) => `--${name}=${value}`),
  ]);
  const number = numbersIn(stdout);
  return {
    answers: number('answers'),
    failures: number('failures'),
    broken: number('broken'),
    connections: CONNECTIONS,
    p50Ms: number('p50Us') / 1000,
    p99Ms: number('p99Us') / 1000,
    p999Ms: number('p999Us') / 1000,
    pausedPercent: number('pausedPercent'),
  };
}
