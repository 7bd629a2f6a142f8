#!/usr/bin/env node
import { minimumNode } from '../version.js';
import { exitOnSignals } from './signals.js';

const { node } = process.versions;
if (node.localeCompare(minimumNode, undefined, { numeric: true }) < 0) {
  process.stderr.write(`plant-store: needs Node ${minimumNode} or newer; this is Node ${node}\n`);
  process.exit(78);
}
exitOnSignals();
// Loaded here, because an older Node cannot load it.
const { run } = await import('./run.js');
process.exit(await run(process.argv.slice(2), process.env));
