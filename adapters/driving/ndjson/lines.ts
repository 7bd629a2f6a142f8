const LINE_FEED = 0x0a;

/**
 * Splits bytes into lines, in constant memory: a line of more than `maxBytes` is `undefined`. The last line may lack its
 * line feed. Yields all lines of a chunk at once, because an iteration step costs as much as processing a line.
 */
export async function* splitLines(
  input: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<readonly (Uint8Array | undefined)[]> {
  let parts: Uint8Array[] = [];
  let length = 0;
  const append = (part: Uint8Array) => {
    length += part.length;
    if (length <= maxBytes) parts.push(part);
    else parts = [];
  };
  const endLine = () => {
    const line = length <= maxBytes ? Buffer.concat(parts) : undefined;
    parts = [];
    length = 0;
    return line;
  };
  for await (const chunk of input) {
    const lines: (Uint8Array | undefined)[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      append(chunk.subarray(start, end));
      lines.push(endLine());
      start = end + 1;
    }
    append(chunk.subarray(start));
    yield lines;
  }
  if (length > 0) yield [endLine()];
}
