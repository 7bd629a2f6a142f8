import { randomInt } from 'node:crypto';
import { afterEach } from 'mocha';
/**
 * Random numbers for the surrounding suite. Where a test fails, its seed is told; `SEED` has the same numbers again. Call
 * it inside `describe`.
 */
export function randomNumbers() {
    const seed = Number(process.env['SEED'] ?? randomInt(2 ** 32));
    afterEach(function () {
        if (this.currentTest?.state === 'failed')
            process.stderr.write(`      SEED=${seed}\n`);
    });
    let state = seed;
    // Mulberry32, by Tommy Ettinger, in the public domain.
    return () => {
        state = (state + 0x6d2b79f5) | 0;
        let mixed = Math.imul(state ^ (state >>> 15), state | 1);
        mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
}
//# sourceMappingURL=random.js.map