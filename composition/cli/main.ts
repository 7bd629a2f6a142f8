#!/usr/bin/env node
import { run } from './run.js';

// By default, process 1 of a container ignores these signals. Elsewhere, the signal itself ends the process, at once.
for (const [signal, exitCode] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => {
    process.kill(process.pid, signal);
    process.exit(exitCode);
  });
process.exit(await run(process.argv.slice(2), process.env));
