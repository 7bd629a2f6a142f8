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
export function systemCalls(trace: string): SystemCall[] {
  const calls: SystemCall[] = [];
  const unfinished = new Map<string, { readonly text: string; readonly began: number }>();
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
export function isBefore(call: SystemCall, other: SystemCall): boolean {
  return call.ended < other.began;
}
