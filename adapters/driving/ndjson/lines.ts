/** A line of an NDJSON text. */
export interface Line {
  /** Starts at 1. */
  readonly number: number;
  /** The line without its line feed, or `undefined` if it is too long. */
  readonly bytes: Uint8Array | undefined;
}

const LINE_FEED = 0x0a;

/**
 * Splits bytes into lines in constant memory. The last line may lack its line feed. Yields all lines of a chunk at
 * once, because an iteration step costs as much as processing a line.
 * @param maxLineBytes Maximum length of a line. Discards the bytes of longer lines.
 */
export async function* splitLines(
  input: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
): AsyncGenerator<readonly Line[]> {
  let number = 1;
  let parts: Uint8Array[] = [];
  let length = 0;
  const append = (part: Uint8Array) => {
    length += part.length;
    if (length <= maxLineBytes) parts.push(part);
    else parts = [];
  };
  const endLine = (): Line => {
    const [first, ...others] = parts;
    const whole = first && others.length === 0 ? first : Buffer.concat(parts);
    const line = { number: number++, bytes: length <= maxLineBytes ? whole : undefined };
    parts = [];
    length = 0;
    return line;
  };
  for await (const chunk of input) {
    const lines: Line[] = [];
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
