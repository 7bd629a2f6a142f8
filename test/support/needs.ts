import { spawnSync } from 'node:child_process';
import type { Context } from 'mocha';

/**
 * Skips a test, by name, on a machine that lacks a program; where `CI=true` that is a failure.
 *
 * @example before(function () { needsProgram(this, 'strace', '-V'); });
 */
export function needsProgram(context: Context, program: string, ...args: string[]): void {
  if (spawnSync(program, args).status === 0) return;
  if (process.env['CI'] === 'true') throw new Error(`CI must have ${program}: apt-get install ${program}`);
  context.skip();
}
