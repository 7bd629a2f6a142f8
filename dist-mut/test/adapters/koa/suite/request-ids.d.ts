import { type Start } from '../support.js';
/** The id by which a request is found in the log. */
export declare function requestIds(start: Start): void;
//# sourceMappingURL=request-ids.d.ts.map