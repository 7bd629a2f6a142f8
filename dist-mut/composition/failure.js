/** A failure that is told in one line, without a stack. */
export class CommandFailure extends Error {
    name = 'CommandFailure';
}
//# sourceMappingURL=failure.js.map