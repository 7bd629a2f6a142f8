import { constants } from 'node:os';

/** Signals within this time count as one, because a terminal sends Ctrl-C to npm and to the service, and npm forwards it. */
const SAME_SIGNAL_WINDOW_MS = 200;

/** Ends the process at SIGINT and SIGTERM, until {@link onStop}. Process 1 of a container ignores them by default. */
export function exitOnSignals(): void {
  process.on('SIGINT', exit).on('SIGTERM', exit);
}

function exit(signal: NodeJS.Signals): void {
  process.exit(signalExitCode(signal));
}

/** Calls `stop` at the first SIGINT or SIGTERM. A later one ends the process immediately. */
export function onStop(stop: (signal: NodeJS.Signals) => void): void {
  let first: number | undefined;
  const handle = (signal: NodeJS.Signals) => {
    const now = performance.now();
    first ??= now;
    if (first === now) stop(signal);
    else if (now - first > SAME_SIGNAL_WINDOW_MS) exit(signal);
  };
  // In this order, because Node forgets pending signals when it removes the last listener.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, handle).off(signal, exit);
}

/** Returns the exit code of a process terminated by a signal. */
export function signalExitCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
