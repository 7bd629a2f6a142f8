#!/usr/bin/env node
import { run } from './run.js';

// As process 1 of a container, Node ignores these signals by default.
for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
] as const)
  process.on(signal, () => process.exit(128 + number));
process.exit(await run(process.argv.slice(2), process.env));
