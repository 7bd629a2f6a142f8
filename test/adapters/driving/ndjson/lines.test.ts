import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { type Line, splitLines } from '../../../../adapters/driving/ndjson/lines.js';

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

  it('ends a line at a line feed only', async () => {
    const lines = ['a', '', 'b\rc\r', 'd\u2028e\u0085f'];
    const expected = lines.map((line, index) => ({ number: index + 1, text: toHex(Buffer.from(line)) }));
    expect(await read([Buffer.from(lines.join('\n'))], 100)).to.deep.equal(expected);
  });

  it('needs constant memory for an endless line', async () => {
    if (globalThis.gc === undefined) {
      const { setFlagsFromString } = await import('node:v8');
      const { runInNewContext } = await import('node:vm');
      setFlagsFromString('--expose-gc');
      globalThis.gc = runInNewContext('gc');
    }
    const used = () => {
      globalThis.gc?.();
      return process.memoryUsage().arrayBuffers;
    };
    const before = used();
    let peak = 0;
    async function* endless() {
      for (let chunk = 0; chunk < 1000; chunk++) {
        yield Buffer.alloc(65_536, 'x');
        if (chunk % 100 === 0) peak = Math.max(peak, used() - before);
      }
    }
    for await (const [line] of splitLines(endless(), 2 ** 20)) expect(line?.bytes).to.equal(undefined);
    expect(peak, 'bytes held of a 62 MiB line').to.be.below(16 * 2 ** 20);
  });
});

interface ReadLine {
  readonly number: number;
  readonly text: string | undefined;
}

async function read(chunks: Iterable<Uint8Array>, maxBytes: number): Promise<ReadLine[]> {
  async function* input() {
    yield* chunks;
  }
  const lines: Line[] = [];
  for await (const chunk of splitLines(input(), maxBytes)) lines.push(...chunk);
  return lines.map(({ number, bytes }) => ({ number, text: bytes && toHex(bytes) }));
}

/** Splits without streaming, as a reference. */
function splitWhole(text: Uint8Array, maxBytes: number): ReadLine[] {
  const lines = Buffer.from(text).toString('latin1').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line, index) => ({
    number: index + 1,
    text: line.length <= maxBytes ? toHex(Buffer.from(line, 'latin1')) : undefined,
  }));
}

function chunked(text: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const edges = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
  return edges.slice(1).map((end, index) => text.subarray(edges[index], end));
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
