import { spawnSync } from 'node:child_process';
import type { Context } from 'mocha';

/** Skips a test, or the suite of a hook, if a program is not installed. Throws instead if `CI=true`. */
export function skipUnlessInstalled(context: Context, program: string, ...args: string[]): void {
  const isInstalled = spawnSync(program, args).status === 0;
  skipUnless(context, isInstalled, `the program ${program}; see .ci/run or .github/RELEASING.md`);
}

/** Skips a test if `condition` is false, and reports `what` as missing. Throws instead if `CI=true`, unless it is optional. */
export function skipUnless(context: Context, condition: boolean, what: string, isOptional = false): void {
  if (condition) return;
  if (process.env['CI'] === 'true' && !isOptional) throw new Error(`missing in CI: ${what}`);
  process.stderr.write(`skipped; missing: ${what}\n`);
  context.skip();
}
