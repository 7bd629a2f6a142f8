import { constants } from 'node:os';

/** Signals within this time count as one: a terminal sends Ctrl-C to npm and to the service, and npm forwards it. */
const SAME_SIGNAL_WINDOW_MS = 200;

/** Calls `stop` at the first of `signals`. A later one ends the process immediately. */
export function onSignals(signals: readonly NodeJS.Signals[], stop: (signal: NodeJS.Signals) => void): void {
  let first: number | undefined;
  for (const signal of signals) {
    process.on(signal, () => {
      const now = performance.now();
      first ??= now;
      if (first === now) stop(signal);
      else if (now - first > SAME_SIGNAL_WINDOW_MS) process.exit(signalExitCode(signal));
    });
  }
}

/** Returns the exit code of a process terminated by a signal. */
export function signalExitCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
