import { type Start } from '../support.js';
/** What is created. */
export declare function plants(start: Start): void;
//# sourceMappingURL=plants.d.ts.map