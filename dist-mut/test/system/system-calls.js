/**
 * The calls of a trace that came to their end. Where another thread's call comes between, strace writes one in two
 * lines, `PID NAME(ARGS <unfinished ...>` and `PID <... NAME resumed>ARGS) = RESULT`; they are put together here.
 */
export function systemCalls(trace) {
    const calls = [];
    const unfinished = new Map();
    for (const [place, line] of trace.split('\n').entries()) {
        const [, pid = '', event = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
        const start = /^(.*) <unfinished \.\.\.>$/.exec(event)?.[1];
        if (start !== undefined) {
            unfinished.set(pid, { text: start, began: place });
            continue;
        }
        const rest = /^<\.\.\. \w+ resumed>(.*)$/.exec(event)?.[1];
        const { text, began } = (rest !== undefined && unfinished.get(pid)) || { text: '', began: place };
        const [, name, args, result] = /^(\w+)\((.*)\) += (-?\d+)/.exec(rest === undefined ? event : text + rest) ?? [];
        if (name !== undefined && args !== undefined) {
            calls.push({ name, args, result: Number(result), began, ended: place });
        }
    }
    return calls;
}
/** Whether `call` came to an end before `other` began. */
export function isBefore(call, other) {
    return call.ended < other.began;
}
//# sourceMappingURL=system-calls.js.map