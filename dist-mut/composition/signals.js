import { constants } from 'node:os';
/**
 * Signals that come together count as one: a terminal sends Ctrl-C to npm and to the service, and npm passes it on, in
 * milliseconds.
 */
const SAME_SIGNAL_MS = 200;
/** Calls `stop` at the first of `signals`; a later one ends the process at once. */
export function onSignals(signals, stop) {
    let first;
    for (const signal of signals) {
        process.on(signal, () => {
            const now = performance.now();
            first ??= now;
            if (first === now)
                stop(signal);
            else if (now - first > SAME_SIGNAL_MS)
                process.exit(exitCodeOf(signal));
        });
    }
}
/** The exit code that says that a signal ended the process. */
export function exitCodeOf(signal) {
    return 128 + constants.signals[signal];
}
/** An AbortSignal that SIGINT and SIGTERM abort, and which of them it was. */
export function interruption() {
    const controller = new AbortController();
    let first;
    onSignals(['SIGINT', 'SIGTERM'], (signal) => {
        first = signal;
        controller.abort();
    });
    return { signal: controller.signal, received: () => first };
}
//# sourceMappingURL=signals.js.map