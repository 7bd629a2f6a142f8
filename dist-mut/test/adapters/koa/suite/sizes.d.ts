import { type Start } from '../support.js';
/** How large a body may be. */
export declare function sizes(start: Start): void;
//# sourceMappingURL=sizes.d.ts.map