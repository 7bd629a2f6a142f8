/** Makes SIGINT and SIGTERM end the process at once. By default, process 1 of a container ignores them. */
export function exitOnSignals(): void {
  process.on('SIGINT', exit).on('SIGTERM', exit);
}

/** Makes SIGINT and SIGTERM call a function, and no longer end the process. */
export function onSignal(handle: (signal: NodeJS.Signals) => void): void {
  // Added first, because a signal without a listener would be lost.
  process.on('SIGINT', handle).on('SIGTERM', handle).off('SIGINT', exit).off('SIGTERM', exit);
}

function exit(signal: NodeJS.Signals): void {
  process.off(signal, exit);
  // Elsewhere, the signal itself ends the process.
  process.kill(process.pid, signal);
  process.exit(signal === 'SIGINT' ? 130 : 143);
}
