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

  it('returns the same lines with and without a final line feed', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, async (text) => {
        fc.pre(text.length > 0 && text.at(-1) !== 0x0a);
        const terminated = Uint8Array.from([...text, 0x0a]);
        expect(await read([text], 200)).to.deep.equal(await read([terminated], 200));
      }),
    );
  });

  for (const [what, text, expected] of [
    ['no line for no bytes', '', []],
    ['one empty line for a line feed', '\n', ['']],
    ['empty lines', 'a\n\nb\n\n', ['a', '', 'b', '']],
    ['carriage returns as part of a line', 'a\rb\r\n', ['a\rb\r']],
    ['Unicode line separators as part of a line', 'a\u2028b\u0085c\n', ['a\u2028b\u0085c']],
  ] as const) {
    it(`returns ${what}`, async () => {
      const lines = await read([Buffer.from(text)], 100);
      expect(lines).to.deep.equal(
        expected.map((line, index) => ({ number: index + 1, text: toHex(Buffer.from(line)) })),
      );
    });
  }

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
