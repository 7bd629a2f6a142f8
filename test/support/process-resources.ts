import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Program } from './executable.js';

/** Returns the resident memory of a program in MiB. */
export function memoryMib(program: Program): number {
  return statusMib(program, /^VmRSS:\s*(\d+) kB$/m);
}

/** Returns the peak resident memory of a program in MiB. */
export function peakMemoryMib(program: Program): number {
  return statusMib(program, /^VmHWM:\s*(\d+) kB$/m);
}

function statusMib(program: Program, line: RegExp): number {
  return Number(line.exec(readFileSync(`/proc/${program.process.pid}/status`, 'latin1'))?.[1]) / 1024;
}

/** Returns the number of open file descriptors of a program. */
export function openFiles(program: Program): number {
  return readdirSync(`/proc/${program.process.pid}/fd`).length;
}

/** Returns the number of open sockets of a program. */
export function openSockets(program: Program): number {
  const folder = `/proc/${program.process.pid}/fd`;
  return readdirSync(folder).filter((file) => readTarget(`${folder}/${file}`).startsWith('socket:')).length;
}

function readTarget(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    // The descriptor has been closed already.
    return '';
  }
}
