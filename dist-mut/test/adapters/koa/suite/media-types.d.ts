import { type Start } from '../support.js';
/** What a body may be said to be. */
export declare function mediaTypes(start: Start): void;
//# sourceMappingURL=media-types.d.ts.map