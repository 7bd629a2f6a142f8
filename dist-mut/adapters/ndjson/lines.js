const LINE_FEED = 0x0a;
/**
 * Cuts bytes into lines, in constant memory: of a line that is too long nothing is kept. The last line may do without
 * its line feed. The lines that end in one chunk come together, because a step of an iteration costs as much as a line.
 *
 * @param bytesMax the longest line, in bytes
 */
export async function* linesOf(input, bytesMax) {
    let number = 1;
    let kept = [];
    let length = 0;
    const keep = (part) => {
        length += part.length;
        if (length <= bytesMax)
            kept.push(part);
        else
            kept = [];
    };
    const take = () => {
        const [first, ...others] = kept;
        const whole = first && others.length === 0 ? first : Buffer.concat(kept);
        const line = { number: number++, bytes: length <= bytesMax ? whole : undefined };
        kept = [];
        length = 0;
        return line;
    };
    for await (const chunk of input) {
        const lines = [];
        let start = 0;
        for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
            keep(chunk.subarray(start, end));
            lines.push(take());
            start = end + 1;
        }
        if (start < chunk.length)
            keep(chunk.subarray(start));
        if (lines.length > 0)
            yield lines;
    }
    if (length > 0)
        yield [take()];
}
//# sourceMappingURL=lines.js.map