import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { inRepository } from '../../support/paths.js';

/** Order of the ids of a load. */
export type IdOrder = 'ascending' | 'scattered';

const HALF = 2 ** 26;

/** Permutes the numbers below 2⁵² pseudo-randomly with a Feistel network. `load.lua` contains the same function. */
export function scattered(number: number): number {
  let [left, right] = [Math.floor(number / HALF), number % HALF];
  for (const factor of [40_503_001, 59_654_323, 48_271_397, 62_089_911])
    [left, right] = [right, (left + Math.floor((right * factor) / 8192)) % HALF];
  return left * HALF + right;
}

/** Number of plants per write. */
const CHUNK_PLANTS = 1000;

export const ndjsonLine = (id: number) => `{"id":${id},"name":"Monstera ${id}","tag":"indoor"}\n`;

/** Writes a file with the lines `lineOf(1)` … `lineOf(count)`. */
export function writeLines(path: string, count: number, lineOf: (number: number) => string): void {
  const file = openSync(path, 'w');
  for (let from = 1; from <= count; from += CHUNK_PLANTS) {
    const size = Math.min(CHUNK_PLANTS, count - from + 1);
    writeSync(file, Array.from({ length: size }, (_, index) => lineOf(from + index)).join(''));
  }
  closeSync(file);
}

/** Returns a digest of the plants in an NDJSON file, or in the JSON array, one line per plant, of `sqlite3 -json`. */
export function digestOf(path: string): string {
  const lines = readFileSync(path, 'utf8').replaceAll(/^\[|[\],]$/gm, '');
  return createHash('sha256').update(lines).digest('hex');
}

/** Returns the command line of a Plant Store command such as `import`. */
export function plantStore(...args: readonly string[]): readonly [string, ...string[]] {
  return [process.execPath, inRepository('dist/composition/cli/main.js'), ...args];
}

/**
 * Runs a program until it exits and returns its duration in seconds; throws if it fails.
 *
 * @param output file for the standard output
 */
export function runTimed(
  [program, ...args]: readonly [string, ...string[]],
  { databaseUrl, output = '/dev/null' }: { readonly databaseUrl?: string; readonly output?: string } = {},
): number {
  const file = openSync(output, 'w');
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  const beganMs = performance.now();
  const { status, stderr, error } = spawnSync(program, args, { env, stdio: ['ignore', file, 'pipe'] });
  const seconds = (performance.now() - beganMs) / 1000;
  closeSync(file);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${error ?? stderr}`);
  return seconds;
}
