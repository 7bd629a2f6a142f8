#!/usr/bin/env node
import { run } from './run.js';

// As process 1 of a container, a program ignores these signals by default. Elsewhere, the default does not wait for a
// read that hangs, as `process.exit` does.
for (const [signal, exitCode] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => {
    process.kill(process.pid, signal);
    process.exit(exitCode);
  });
process.exit(await run(process.argv.slice(2), process.env));
