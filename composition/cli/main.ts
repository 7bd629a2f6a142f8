#!/usr/bin/env node
import { engines } from '../version.js';
import { exitOnSignals } from './signals.js';

const [needed, { node }] = [engines.node.replace('>=', ''), process.versions];
if (node.localeCompare(needed, undefined, { numeric: true }) < 0) {
  process.stderr.write(`plant-store: needs Node ${needed} or newer; this is Node ${node}\n`);
  process.exit(78);
}
exitOnSignals();
// Loaded here, because an older Node cannot load it.
const { run } = await import('./run.js');
process.exit(await run(process.argv.slice(2), process.env));
