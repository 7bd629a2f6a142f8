import { existsSync, readFileSync } from 'node:fs';
import { InvalidConfig } from './invalid-config.js';

/** Open files reserved for the management listener (64), the storage (10) and the process itself (about 30). */
const RESERVED_FILES = 128;
const MIN_OPEN_FILES = 2 * RESERVED_FILES;

/**
 * Returns the maximum number of client connections, because each is an open file; `Infinity` on systems without /proc.
 * @throws {InvalidConfig} The limit on open files is less than {@link MIN_OPEN_FILES}.
 */
export function readMaxConnections(): number {
  const limits = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'utf8') : '';
  const max = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  const problem = `the limit on open files is ${max} and must be at least ${MIN_OPEN_FILES}`;
  if (max < MIN_OPEN_FILES) throw new InvalidConfig(`${problem}; raise it with ulimit -n or LimitNOFILE`);
  return max - RESERVED_FILES;
}
