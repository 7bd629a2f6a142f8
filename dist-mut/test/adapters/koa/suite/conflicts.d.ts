import { type Start } from '../support.js';
/** An id names one plant for ever. */
export declare function conflicts(start: Start): void;
//# sourceMappingURL=conflicts.d.ts.map