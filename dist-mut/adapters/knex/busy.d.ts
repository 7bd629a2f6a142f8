import type { Engine } from './engine.js';
/** Does `work` again as long as others are in its way, up to `timeoutMs` milliseconds. */
export declare function whileBusy<T>(engine: Engine, timeoutMs: number, work: () => Promise<T>): Promise<T>;
//# sourceMappingURL=busy.d.ts.map