import { type Start } from '../support.js';
/** How a body may be compressed. */
export declare function encodings(start: Start): void;
//# sourceMappingURL=encodings.d.ts.map