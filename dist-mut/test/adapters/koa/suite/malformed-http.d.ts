import { type Start } from '../support.js';
/** Bytes that are no request: whatever they are, the answer is an Error. */
export declare function malformedHttp(start: Start): void;
//# sourceMappingURL=malformed-http.d.ts.map