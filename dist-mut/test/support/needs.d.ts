import type { Context } from 'mocha';
/**
 * Skips a test, by name, on a machine that lacks a program; where `CI=true` that is a failure.
 *
 * @example before(function () { needsProgram(this, 'strace', '-V'); });
 */
export declare function needsProgram(context: Context, program: string, ...args: string[]): void;
/** Skips a test, by name, on a machine that lacks `what` (`condition` is false); where `CI=true` that is a failure. */
export declare function needs(context: Context, condition: boolean, what: string): void;
//# sourceMappingURL=needs.d.ts.map