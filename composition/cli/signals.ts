let handle: (signal: NodeJS.Signals) => void = exit;
/** The only listener, because a signal between the removal of one and the addition of another would be lost. */
const listener = (signal: NodeJS.Signals) => handle(signal);

/** Makes SIGINT and SIGTERM end the process at once. By default, process 1 of a container ignores them. */
export function exitOnSignals(): void {
  process.on('SIGINT', listener).on('SIGTERM', listener);
}

/** Makes SIGINT and SIGTERM call a function, and no longer end the process. */
export function onSignal(handler: (signal: NodeJS.Signals) => void): void {
  handle = handler;
}

function exit(signal: NodeJS.Signals): void {
  process.off(signal, listener);
  // Elsewhere, the signal itself ends the process.
  process.kill(process.pid, signal);
  process.exit(signal === 'SIGINT' ? 130 : 143);
}
