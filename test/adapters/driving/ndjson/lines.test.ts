import { Readable } from 'node:stream';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { splitLines } from '#adapters/driving/ndjson/lines.js';

/** Random bytes with many line feeds, carriage returns and partial characters. */
const bytes = fc
  .array(fc.oneof(fc.constantFrom(0x0a, 0x0d, 0xc3, 0xa9), fc.integer({ min: 0, max: 255 })), { maxLength: 200 })
  .map((values) => Uint8Array.from(values));

describe('splitLines', () => {
  it('returns the same lines for any chunks', async () => {
    const cuts = fc.array(fc.nat({ max: 200 }));
    await fc.assert(
      fc.asyncProperty(bytes, cuts, fc.integer({ min: 0, max: 40 }), async (text, at, maxBytes) => {
        expect(await read(chunked(text, at), maxBytes)).to.deep.equal(splitWhole(text, maxBytes));
      }),
      { numRuns: 1000 },
    );
  });

  it('needs constant memory for an endless line', async () => {
    let peakBytes = 0;
    async function* endless() {
      for (let chunk = 0; chunk < 10_000; chunk++) {
        yield Buffer.alloc(65_536, 'x');
        peakBytes = Math.max(peakBytes, process.memoryUsage().arrayBuffers);
      }
    }
    for await (const lines of splitLines(endless(), 2 ** 20)) expect(lines).to.deep.equal([undefined]);
    expect(peakBytes, 'bytes held of a line of 625 MiB').to.be.below(200 * 2 ** 20);
  });
});

async function read(chunks: Iterable<Uint8Array>, maxBytes: number): Promise<(string | undefined)[]> {
  const lines: (string | undefined)[] = [];
  for await (const batch of splitLines(Readable.from(chunks), maxBytes))
    lines.push(...batch.map((bytes) => bytes && Buffer.from(bytes).toString('latin1')));
  return lines;
}

/** Splits without streaming, as a reference. */
function splitWhole(text: Uint8Array, maxBytes: number): (string | undefined)[] {
  const lines = Buffer.from(text).toString('latin1').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => (line.length <= maxBytes ? line : undefined));
}

function chunked(text: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const edges = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
  return edges.slice(1).map((end, index) => text.subarray(edges[index], end));
}
