const LINE_FEED = 0x0a;
/** Maximum bytes of a batch, some thousand short lines. Its last line may exceed it. */
const MAX_BATCH_BYTES = 256 * 1024;

/**
 * Splits bytes into lines, in batches and in constant memory: a line of more than `maxBytes` is `undefined`. The last
 * line may lack its line feed.
 */
export async function* splitLines(
  input: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<readonly (Uint8Array | undefined)[]> {
  let batch: (Uint8Array | undefined)[] = [];
  let batchBytes = 0;
  let parts: Uint8Array[] = [];
  let length = 0;
  const append = (part: Uint8Array) => {
    length += part.length;
    if (length <= maxBytes) parts.push(part);
    else parts = [];
  };
  const endLine = () => {
    batch.push(length <= maxBytes ? Buffer.concat(parts) : undefined);
    batchBytes += Math.min(length, maxBytes) + 1;
    parts = [];
    length = 0;
  };
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      append(chunk.subarray(start, end));
      endLine();
      start = end + 1;
      if (batchBytes < MAX_BATCH_BYTES) continue;
      yield batch;
      batch = [];
      batchBytes = 0;
    }
    append(chunk.subarray(start));
  }
  if (length > 0) endLine();
  yield batch;
}
