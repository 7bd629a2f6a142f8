import type { Bench } from '../harness/bench.js';
import { bulk } from './bulk.js';
import { createPlant } from './create-plant.js';
import { instances } from './instances.js';
import { latency } from './latency.js';
import { oneClient } from './one-client.js';
import { scale } from './scale.js';
import { mariadbBench, postgresBench } from './server-engine.js';
import { sqlite } from './sqlite.js';
import { start } from './start.js';
import { tenMillion } from './ten-million.js';

/** All benchmarks, in the order of the document. */
export const benches: readonly Bench[] = [
  sqlite,
  oneClient,
  postgresBench,
  mariadbBench,
  latency,
  bulk,
  tenMillion,
  start,
  createPlant,
  scale,
  instances,
];
