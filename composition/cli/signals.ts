/** Makes SIGINT and SIGTERM end the process at once. By default, process 1 of a container ignores them. */
export function exitOnSignals(): void {
  process.once('SIGINT', exit).once('SIGTERM', exit);
}

/** Resolves to the next SIGINT or SIGTERM, which no longer ends the process. */
export function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.off('SIGINT', exit).on('SIGINT', resolve);
    process.off('SIGTERM', exit).on('SIGTERM', resolve);
  });
}

function exit(signal: NodeJS.Signals): void {
  // Elsewhere, the signal itself ends the process.
  process.kill(process.pid, signal);
  process.exit(signal === 'SIGINT' ? 130 : 143);
}
