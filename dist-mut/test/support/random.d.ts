/** Numbers from 0 to below 1, each run others. */
export type Random = () => number;
/**
 * Random numbers for the surrounding suite. Where a test fails, its seed is told; `SEED` has the same numbers again. Call
 * it inside `describe`.
 */
export declare function randomNumbers(): Random;
//# sourceMappingURL=random.d.ts.map