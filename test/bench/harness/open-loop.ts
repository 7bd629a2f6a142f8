import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { inRepository } from '../../support/paths.js';
import { firstIdOfLoad } from './ids.js';
import { numbersIn } from './numbers.js';
import type { Seen } from './refusal.js';
import { TOKEN } from './server.js';

/** What came of an open loop. Latencies are measured from the moment at which a request was to be sent. */
export interface OpenLoop extends Seen {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
}

/** Enough that a request finds one free as long as the program keeps up. */
const CONNECTIONS = 256;

/** How long the load goes on behind what counts, so that the last that count get their answers. */
const REST_SECONDS = 2;

/** Sends creates at a fixed rate a second, whatever the answers do, for `warmUpSeconds` uncounted and then `seconds`. */
export async function openLoop(
  port: number,
  rate: number,
  { seconds, warmUpSeconds }: { readonly seconds: number; readonly warmUpSeconds: number },
): Promise<OpenLoop> {
  const load = ['-t1', `-c${CONNECTIONS}`, `-d${warmUpSeconds + seconds + REST_SECONDS}s`, '--timeout', '10s'];
  const script = ['-s', inRepository('test/bench/harness/wrk-paced.lua'), `http://127.0.0.1:${port}/plants`];
  const schedule = [firstIdOfLoad(), rate, warmUpSeconds, seconds].map(String);
  const { stdout } = await promisify(execFile)('wrk', [...load, ...script, '--', TOKEN, ...schedule]);
  const number = numbersIn(stdout.trim().split('\n').at(-1) ?? '');
  return {
    answers: number('answers'),
    failures: number('failures'),
    broken: number('broken'),
    connections: CONNECTIONS,
    p50Ms: number('p50Us') / 1000,
    p99Ms: number('p99Us') / 1000,
    p999Ms: number('p999Us') / 1000,
  };
}
