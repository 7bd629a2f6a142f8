/** How far something is, for a person who watches. */
export interface Progress {
    update(value: number): void;
    /** Makes room for a whole line of others; the bar comes back below it. */
    clear(): void;
    stop(): void;
}
/** Nobody watches. */
export declare const noProgress: Progress;
/** A bar on standard error where that is a terminal, else nothing. The cursor stays, also where a signal ends the process. */
export declare function progressBar(unit: string, total?: number): Progress;
//# sourceMappingURL=progress.d.ts.map