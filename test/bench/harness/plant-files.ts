import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';

/** Number of plants per write. */
const CHUNK_PLANTS = 1000;

/** Writes a file of plants, one per line, with the ids `idOf(1)` … `idOf(count)`. */
export async function writePlants(
  path: string,
  count: number,
  format: 'ndjson' | 'csv',
  idOf: (number: number) => number = (number) => number,
): Promise<void> {
  const line = format === 'ndjson' ? ndjsonLine : (id: number) => `${id},Monstera ${id},indoor\n`;
  const file = createWriteStream(path);
  for (let from = 1; from <= count; from += CHUNK_PLANTS) {
    const size = Math.min(CHUNK_PLANTS, count - from + 1);
    const text = Array.from({ length: size }, (_, index) => line(idOf(from + index))).join('');
    if (!file.write(text)) await once(file, 'drain');
  }
  await finished(file.end());
}

function ndjsonLine(id: number): string {
  return `{"id":${id},"name":"Monstera ${id}","tag":"indoor"}\n`;
}

/**
 * Returns the number of plants in an NDJSON file and a digest of them. Also reads the JSON array, with one object per
 * line, that the `sqlite3` command-line program writes.
 */
export async function summarize(path: string): Promise<string> {
  const hash = createHash('sha256');
  let count = 0;
  for await (const line of createInterface(createReadStream(path))) {
    hash.update(line.replace(/^\[/, '').replace(/[\],]$/, ''));
    count += 1;
  }
  return `${count} plants, sha256 ${hash.digest('hex')}`;
}
