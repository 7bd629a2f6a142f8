#!/usr/bin/env node
import { run } from './run.js';

// As process 1 of a container, Node ignores these signals by default.
process.on('SIGINT', () => process.exit(130)).on('SIGTERM', () => process.exit(143));
process.exit(await run(process.argv.slice(2), process.env));
