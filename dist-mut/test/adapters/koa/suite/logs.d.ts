import { type Start } from '../support.js';
/** What is logged, and what is not. */
export declare function logs(start: Start): void;
//# sourceMappingURL=logs.d.ts.map