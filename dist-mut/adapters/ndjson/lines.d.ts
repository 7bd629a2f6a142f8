/** A line of an NDJSON text, without its end; `undefined` stands for one that is longer than allowed. */
export interface Line {
    /** From 1 on. */
    readonly number: number;
    readonly bytes: Uint8Array | undefined;
}
/**
 * Cuts bytes into lines, in constant memory: of a line that is too long nothing is kept. The last line may do without
 * its line feed. The lines that end in one chunk come together, because a step of an iteration costs as much as a line.
 *
 * @param bytesMax the longest line, in bytes
 */
export declare function linesOf(input: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<readonly Line[]>;
//# sourceMappingURL=lines.d.ts.map