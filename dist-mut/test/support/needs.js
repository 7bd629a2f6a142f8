import { spawnSync } from 'node:child_process';
/**
 * Skips a test, by name, on a machine that lacks a program; where `CI=true` that is a failure.
 *
 * @example before(function () { needsProgram(this, 'strace', '-V'); });
 */
export function needsProgram(context, program, ...args) {
    needs(context, spawnSync(program, args).status === 0, `${program}: apt-get install ${program}`);
}
/** Skips a test, by name, on a machine that lacks `what` (`condition` is false); where `CI=true` that is a failure. */
export function needs(context, condition, what) {
    if (condition)
        return;
    if (process.env['CI'] === 'true')
        throw new Error(`CI must have ${what}`);
    context.skip();
}
//# sourceMappingURL=needs.js.map