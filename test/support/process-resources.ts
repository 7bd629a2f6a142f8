import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
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

/** Returns the number of open file descriptors of a program, by default of any type. */
export function openFiles(program: Program, type = ''): number {
  const folder = `/proc/${program.process.pid}/fd`;
  return readdirSync(folder).filter((file) => {
    try {
      return readlinkSync(`${folder}/${file}`).startsWith(type);
    } catch {
      // The descriptor has been closed already.
      return false;
    }
  }).length;
}
