import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { inRepository } from '../../support/paths.js';

/** A command of the service, such as `import`, as an argument list. */
export function plantStore(...args: readonly string[]): readonly [string, ...string[]] {
  return [process.execPath, inRepository('dist/composition/cli.js'), ...args];
}

/**
 * Runs a program to its end; a failure throws.
 *
 * @param output the file for its standard output; by default it goes nowhere
 * @returns how long it took, in seconds
 */
export async function timed(
  [program, ...args]: readonly [string, ...string[]],
  { environment = {}, output = '/dev/null' }: { environment?: Readonly<Record<string, string>>; output?: string } = {},
): Promise<number> {
  const file = openSync(output, 'w');
  const beganMs = performance.now();
  const child = spawn(program, args, { env: { ...process.env, ...environment }, stdio: ['ignore', file, 'pipe'] });
  closeSync(file);
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors = `${errors}${chunk}`.slice(-1000);
  });
  const [code] = await once(child, 'close');
  const seconds = (performance.now() - beganMs) / 1000;
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${errors}`);
  return seconds;
}
