/** Calls `stop` at the first of `signals`; a later one ends the process at once. */
export declare function onSignals(signals: readonly NodeJS.Signals[], stop: (signal: NodeJS.Signals) => void): void;
/** The exit code that says that a signal ended the process. */
export declare function exitCodeOf(signal: NodeJS.Signals): number;
/** An AbortSignal that SIGINT and SIGTERM abort, and which of them it was. */
export declare function interruption(): {
    signal: AbortSignal;
    received(): NodeJS.Signals | undefined;
};
//# sourceMappingURL=signals.d.ts.map