/** A new folder of its own, which is removed when the surrounding suite ends. Call it inside `describe` or a hook. */
export declare function temporaryFolder(): string;
//# sourceMappingURL=temporary.d.ts.map