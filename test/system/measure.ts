import { readFileSync } from 'node:fs';
import type { Program } from '../support/executable.js';

/** Returns the resident memory of a program in MiB: now, or the `VmHWM`, its peak. */
export function memoryMib({ process }: Program, what: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const status = readFileSync(`/proc/${process.pid}/status`, 'latin1');
  return Number(RegExp(`^${what}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
}

/** Returns the `fraction` quantile of `values`, such as 0.99 for the 99th percentile; 0 without values. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? 0;
}
