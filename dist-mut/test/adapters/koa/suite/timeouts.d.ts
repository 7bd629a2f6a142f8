import { type Start } from '../support.js';
/** How long clients are waited for. Node looks for late ones every half a second, so that short settings do for all. */
export declare function timeouts(start: Start): void;
//# sourceMappingURL=timeouts.d.ts.map