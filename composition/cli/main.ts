#!/usr/bin/env node
import { engines } from '../version.js';
import { exitOnSignals } from './signals.js';

const needed = engines.node.replace('>=', '');
if (process.versions.node.localeCompare(needed, undefined, { numeric: true }) < 0) {
  process.stderr.write(`plant-store: needs Node ${needed} or newer; this is Node ${process.versions.node}\n`);
  process.exit(78);
}
exitOnSignals();
// A static import would fail on an older Node before the check.
const { run } = await import('./run.js');
process.exit(await run(process.argv.slice(2), process.env));
