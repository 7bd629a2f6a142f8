import type { Bench } from '../harness/bench.js';
import { latency } from './latency.js';
import { oneClient } from './one-client.js';
import { mariadbBench, postgresBench } from './server-engine.js';
import { sqlite } from './sqlite.js';

/** All benches, in the order of the document. */
export const benches: readonly Bench[] = [sqlite, oneClient, postgresBench, mariadbBench, latency];
