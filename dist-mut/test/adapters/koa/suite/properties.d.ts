import { type Start } from '../support.js';
/** What fast-check finds by itself. */
export declare function properties(start: Start): void;
//# sourceMappingURL=properties.d.ts.map