import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { linesOf } from '../../../adapters/ndjson/lines.js';
/** Bytes among which line feeds, carriage returns and halves of characters are frequent. */
const bytes = fc
    .array(fc.oneof(fc.constantFrom(0x0a, 0x0d, 0xc3, 0xa9), fc.integer({ min: 0, max: 255 })), { maxLength: 200 })
    .map((values) => Uint8Array.from(values));
describe('The lines of an NDJSON text', () => {
    it('are the same however its bytes arrive', async () => {
        const cuts = fc.array(fc.nat({ max: 200 }));
        await fc.assert(fc.asyncProperty(bytes, cuts, fc.integer({ min: 0, max: 40 }), async (text, at, bytesMax) => {
            expect(await read(chunked(text, at), bytesMax)).to.deep.equal(splitWhole(text, bytesMax));
        }), { numRuns: 1000 });
    });
    it('are the same with a line feed at the end and without one', async () => {
        await fc.assert(fc.asyncProperty(bytes, async (text) => {
            fc.pre(text.length > 0 && text.at(-1) !== 0x0a);
            const ended = Uint8Array.from([...text, 0x0a]);
            expect(await read([text], 200)).to.deep.equal(await read([ended], 200));
        }));
    });
    for (const [what, text, expected] of [
        ['none where there is nothing', '', []],
        ['one, an empty one, where there is a line feed alone', '\n', ['']],
        ['counted with the empty ones between them', 'a\n\nb\n\n', ['a', '', 'b', '']],
        ['not cut at a carriage return', 'a\rb\r\n', ['a\rb\r']],
        ['not cut at what looks like a line break in Unicode', 'a\u2028b\u0085c\n', ['a\u2028b\u0085c']],
    ]) {
        it(`are ${what}`, async () => {
            const lines = await read([Buffer.from(text)], 100);
            expect(lines).to.deep.equal(expected.map((line, index) => ({ number: index + 1, text: toHex(Buffer.from(line)) })));
        });
    }
    it('are as long as they may be, and not a byte longer', async () => {
        expect(await read([Buffer.from('12345\n123456\n1234\n')], 5)).to.deep.equal([
            { number: 1, text: toHex(Buffer.from('12345')) },
            { number: 2, text: undefined },
            { number: 3, text: toHex(Buffer.from('1234')) },
        ]);
    });
    it('are numbered and dropped where they are too long, also the last one without a line feed', async () => {
        const chunk = Buffer.alloc(1000, 'x');
        const long = Array.from({ length: 100 }, () => chunk);
        const lines = await read([...long, Buffer.from('\nok\n'), ...long], 5000);
        expect(lines).to.deep.equal([
            { number: 1, text: undefined },
            { number: 2, text: toHex(Buffer.from('ok')) },
            { number: 3, text: undefined },
        ]);
    });
    it('need no more memory than one of them may have, however long a line without an end is', async function () {
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
        this.timeout(20_000);
        const before = used();
        let most = 0;
        async function* endless() {
            for (let chunk = 0; chunk < 4000; chunk++) {
                yield Buffer.alloc(65_536, 'x');
                if (chunk % 400 === 0)
                    most = Math.max(most, used() - before);
            }
        }
        for await (const [line] of linesOf(endless(), 2 ** 20))
            expect(line?.bytes).to.equal(undefined);
        expect(most, 'bytes, of 250 MiB').to.be.below(64 * 2 ** 20);
    });
});
async function read(chunks, bytesMax) {
    async function* input() {
        yield* chunks;
    }
    const lines = [];
    for await (const some of linesOf(input(), bytesMax))
        lines.push(...some);
    return lines.map(({ number, bytes }) => ({ number, text: bytes && toHex(bytes) }));
}
/** The same by splitting all of it at once. */
function splitWhole(text, bytesMax) {
    const lines = Buffer.from(text).toString('latin1').split('\n');
    if (lines.at(-1) === '')
        lines.pop();
    return lines.map((line, index) => ({
        number: index + 1,
        text: line.length <= bytesMax ? toHex(Buffer.from(line, 'latin1')) : undefined,
    }));
}
function chunked(text, cuts) {
    const edges = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
    return edges.slice(1).map((end, index) => text.subarray(edges[index], end));
}
function toHex(bytes) {
    return Buffer.from(bytes).toString('hex');
}
//# sourceMappingURL=lines.test.js.map