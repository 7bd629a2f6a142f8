import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Program } from '../support/executable.js';

/** Mebibytes of memory that a program occupies. */
export function memoryMib(program: Program): number {
  return statusMib(program, /^VmRSS:\s*(\d+) kB$/m);
}

/** The most mebibytes of memory that a program has occupied so far. */
export function peakMemoryMib(program: Program): number {
  return statusMib(program, /^VmHWM:\s*(\d+) kB$/m);
}

function statusMib(program: Program, line: RegExp): number {
  return Number(line.exec(readFileSync(`/proc/${program.process.pid}/status`, 'latin1'))?.[1]) / 1024;
}

/** How many files and sockets a program has open. */
export function openFiles(program: Program): number {
  return readdirSync(`/proc/${program.process.pid}/fd`).length;
}

/** How many sockets a program has open. */
export function openSockets(program: Program): number {
  const folder = `/proc/${program.process.pid}/fd`;
  return readdirSync(folder).filter((file) => targetOf(`${folder}/${file}`).startsWith('socket:')).length;
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    // It was closed meanwhile.
    return '';
  }
}

/** The value below which `part` of all values are, such as 0.99. */
export function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0;
}
