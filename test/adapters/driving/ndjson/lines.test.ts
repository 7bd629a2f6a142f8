import { Readable } from 'node:stream';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { splitLines } from '#adapters/driving/ndjson/lines.js';

describe('splitLines', () => {
  it('returns the same lines for any chunks', async () => {
    // The bytes have many line feeds, carriage returns and partial characters.
    const byte = fc.oneof(fc.constantFrom(0x0a, 0x0d, 0xc3, 0xa9), fc.integer({ min: 0, max: 255 }));
    const chunks = fc.array(fc.array(byte, { maxLength: 40 }), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(chunks, fc.integer({ min: 0, max: 40 }), async (input, maxBytes) => {
        const buffers = input.map((bytes) => Buffer.from(bytes));
        const expected = Buffer.concat(buffers).toString('latin1').split('\n');
        if (expected.at(-1) === '') expected.pop();
        const batches = await Readable.from(splitLines(Readable.from(buffers), maxBytes)).toArray();
        const lines = batches.flat().map((line) => line && Buffer.from(line).toString('latin1'));
        expect(lines).to.deep.equal(expected.map((line) => (line.length <= maxBytes ? line : undefined)));
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
