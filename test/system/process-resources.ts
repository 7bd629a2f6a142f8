import { readFileSync } from 'node:fs';
import type { Program } from '../support/executable.js';

/** Returns the resident memory of a program in MiB: now, or the `VmHWM`, its peak. */
export function memoryMib({ process }: Program, what: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const status = readFileSync(`/proc/${process.pid}/status`, 'latin1');
  return Number(RegExp(`^${what}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
}
