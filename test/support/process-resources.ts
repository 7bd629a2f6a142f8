import { readdirSync, readFileSync } from 'node:fs';
import type { Program } from './executable.js';

/** Returns the resident memory of a program in MiB. */
export function memoryMib(program: Program): number {
  return readMib(program, /^VmRSS:\s*(\d+) kB$/m);
}

/** Returns the peak resident memory of a program in MiB. */
export function peakMemoryMib(program: Program): number {
  return readMib(program, /^VmHWM:\s*(\d+) kB$/m);
}

function readMib(program: Program, line: RegExp): number {
  return Number(line.exec(readFileSync(`/proc/${program.process.pid}/status`, 'latin1'))?.[1]) / 1024;
}

/** Returns the number of open file descriptors of a program. */
export function openFiles(program: Program): number {
  return readdirSync(`/proc/${program.process.pid}/fd`).length;
}
