/** A failure that is told in one line, without a stack. */
export declare class CommandFailure extends Error {
    readonly name = "CommandFailure";
}
//# sourceMappingURL=failure.d.ts.map