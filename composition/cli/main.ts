#!/usr/bin/env node
import { run } from './run.js';
import { exitOnSignals } from './signals.js';

exitOnSignals();
process.exit(await run(process.argv.slice(2), process.env));
