import type { Context } from 'koa';
/** How often a header stands in the request; of several Node keeps the first, without a word. */
export declare function countOf(ctx: Context, lowerCaseName: string): number;
//# sourceMappingURL=headers.d.ts.map