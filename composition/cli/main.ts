#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { exitOnSignals } from './signals.js';

const { engines } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
const required: string = engines.node.replace('>=', '');

if (process.versions.node.localeCompare(required, undefined, { numeric: true }) < 0) {
  process.stderr.write(`plant-store: needs Node ${required} or newer; this is Node ${process.versions.node}\n`);
  process.exitCode = 78;
} else {
  exitOnSignals();
  // Loaded here, because an older Node cannot load it.
  const { run } = await import('./run.js');
  process.exit(await run(process.argv.slice(2), process.env));
}
