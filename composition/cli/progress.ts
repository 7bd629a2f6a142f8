import { SingleBar } from 'cli-progress';

/** Passes chunks on, and shows their total size on standard error if that is a terminal. */
export async function* showProgress<T extends string | Uint8Array>(
  chunks: AsyncIterable<T>,
  total?: number,
): AsyncGenerator<T> {
  const format = total ? '{bar} {percentage}% | {value} of {total} bytes | {eta_formatted}' : '{value} bytes';
  const bar = new SingleBar({ format, stream: process.stderr });
  bar.start(total ?? 0, 0);
  try {
    for await (const chunk of chunks) {
      yield chunk;
      bar.increment(Buffer.byteLength(chunk));
    }
  } finally {
    bar.stop();
  }
}
