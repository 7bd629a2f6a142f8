import { type Start } from '../support.js';
/** Expect: 100-continue (RFC 9110 §10.1.1). */
export declare function expectations(start: Start): void;
//# sourceMappingURL=expectations.d.ts.map