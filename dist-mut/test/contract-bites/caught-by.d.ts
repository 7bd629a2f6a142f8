/** Which case of the contracts must catch which faults of `broken-by-documentation.ts`. */
export declare const caughtBy: Readonly<Record<string, readonly string[]>>;
//# sourceMappingURL=caught-by.d.ts.map