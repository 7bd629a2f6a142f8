import { type Start } from '../support.js';
/** How the service ends. */
export declare function stopping(start: Start): void;
//# sourceMappingURL=stopping.d.ts.map