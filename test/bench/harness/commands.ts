import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { inRepository } from '../../support/paths.js';

/** Returns the command line of a Plant Store command such as `import`. */
export function plantStore(...args: readonly string[]): readonly [string, ...string[]] {
  return [process.execPath, inRepository('dist/composition/cli.js'), ...args];
}

/**
 * Runs a program until it exits and returns its duration in seconds; throws if it fails.
 *
 * @param output file for the standard output; discarded by default
 */
export async function runTimed(
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
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} exited with ${code}: ${errors}`);
  return seconds;
}
