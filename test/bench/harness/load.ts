import { execFile } from 'node:child_process';
import { type Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { inRepository } from '../../support/paths.js';
import type { IdOrder } from './bulk.js';
import type { LoadCounts } from './run-check.js';

/** The access token of every program. */
export const TOKEN = 'bench-token-0123456789';

/** Requests per second of an open loop, which is measured after a warm-up. */
export interface Pace {
  readonly rate: number;
  readonly warmUpSeconds: number;
}

export interface LoadResult extends LoadCounts {
  /** Responses per second. */
  readonly rate: number;
  /** Latencies; in an open loop, from the scheduled time of a request. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
}

/** Enough connections that each request of an open loop finds a free one while the program keeps up. */
const OPEN_CONNECTIONS = 256;

/** How long an open loop continues after the measured part, so that its last requests get responses. */
const DRAIN_SECONDS = 2;

/** More ids than any load uses. */
const IDS_PER_LOAD = 1e9;
let loads = 0;

/** Returns the first id of a new load. Loads do not overlap each other or the plants of a prefilled store. */
function firstIdOfLoad(): number {
  return ++loads * IDS_PER_LOAD;
}

/** Creates plants from one thread: in a closed loop, where each connection waits for its responses, or at a pace. */
export async function runLoad(
  port: number,
  seconds: number,
  { connections, ids, pace }: { readonly connections: number; readonly ids: IdOrder; readonly pace?: Pace | undefined },
): Promise<LoadResult> {
  const clients = pace ? OPEN_CONNECTIONS : connections;
  const duration = pace ? pace.warmUpSeconds + seconds + DRAIN_SECONDS : seconds;
  const schedule = pace ? [pace.rate, pace.warmUpSeconds, seconds] : [];
  const options = ['-t1', `-c${clients}`, `-d${duration}s`, '--timeout', '10s'];
  const script = ['-s', inRepository('test/bench/harness/load.lua'), `http://127.0.0.1:${port}/plants`, '--'];
  const plants = [TOKEN, firstIdOfLoad(), ids, ...schedule].map(String);
  const { stdout } = await promisify(execFile)('wrk', [...options, ...script, ...plants]);
  const result: Omit<LoadResult, 'connections'> = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  return { ...result, connections: clients };
}

/** Creates one plant and checks the response, including name and tag, which the load generator does not check. */
export async function createOne(port: number, agent?: Agent): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const sent = request({ port, host: '127.0.0.1', path: '/plants', method: 'POST', headers, agent });
  sent.end(JSON.stringify({ id: firstIdOfLoad(), name: 'Monstera', tag: 'indoor' }));
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    sent.once('response', resolve).once('error', reject),
  );
  const body = await text(response);
  // Feathers responds with 201 and the whole plant.
  const isCreated = [200, 201].includes(response.statusCode ?? 0) && body.includes('"name":"Monstera","tag":"indoor"');
  if (!isCreated) throw new Error(`a create failed: ${response.statusCode} ${body.slice(0, 200)}`);
}
