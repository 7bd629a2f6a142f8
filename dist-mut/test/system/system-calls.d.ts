/** One system call of a trace that `strace -f -y -o FILE` wrote. */
export interface SystemCall {
    readonly name: string;
    /** Its arguments as strace writes them, with the names of files behind their numbers. */
    readonly args: string;
    readonly result: number;
    /** When it began and when it had ended, as places in the order of all events of all threads. */
    readonly began: number;
    readonly ended: number;
}
/**
 * The calls of a trace that came to their end. Where another thread's call comes between, strace writes one in two
 * lines, `PID NAME(ARGS <unfinished ...>` and `PID <... NAME resumed>ARGS) = RESULT`; they are put together here.
 */
export declare function systemCalls(trace: string): SystemCall[];
/** Whether `call` came to an end before `other` began. */
export declare function isBefore(call: SystemCall, other: SystemCall): boolean;
//# sourceMappingURL=system-calls.d.ts.map