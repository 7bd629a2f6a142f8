import { type Start } from '../support.js';
/** How much the service holds at once. */
export declare function limits(start: Start): void;
//# sourceMappingURL=limits.d.ts.map