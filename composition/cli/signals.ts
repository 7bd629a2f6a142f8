import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Ends the process at SIGINT and SIGTERM, until {@link nextSignal}. Process 1 of a container ignores them by default. */
export function exitOnSignals(): void {
  for (const signal of SIGNALS) process.on(signal, exit);
}

/** Resolves at the next SIGINT or SIGTERM, instead of ending the process. */
export function nextSignal(): Promise<NodeJS.Signals> {
  // In this order, because Node forgets pending signals when it removes the last listener.
  return new Promise((resolve) => {
    for (const signal of SIGNALS) process.on(signal, resolve).off(signal, exit);
  });
}

function exit(signal: NodeJS.Signals): void {
  process.exit(128 + constants.signals[signal]);
}
