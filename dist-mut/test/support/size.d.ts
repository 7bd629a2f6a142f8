/** Whether tests take the time that they like: `npm run soak`. */
export declare const isSoak: boolean;
/** How long, often or much: `inTests` as a part of all tests, `inSoak` where nobody waits. */
export declare function sized(inTests: number, inSoak: number): number;
//# sourceMappingURL=size.d.ts.map