import { type Start } from '../support.js';
/** What a body must not be. */
export declare function bodies(start: Start): void;
//# sourceMappingURL=bodies.d.ts.map