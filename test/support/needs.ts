import { spawnSync } from 'node:child_process';
import type { Context } from 'mocha';

/**
 * Skips a test, by name, on a machine that lacks a program; where `CI=true` that is a failure.
 *
 * @example before(function () { needsProgram(this, 'strace', '-V'); });
 */
export function needsProgram(context: Context, program: string, ...args: string[]): void {
  needs(context, spawnSync(program, args).status === 0, `the program ${program}; .ci/run names its package`);
}

/** Skips a test, by name, on a machine that lacks `what` (`condition` is false); where `CI=true` that is a failure. */
export function needs(context: Context, condition: boolean, what: string): void {
  if (condition) return;
  if (process.env['CI'] === 'true') throw new Error(`CI must have ${what}`);
  context.skip();
}
