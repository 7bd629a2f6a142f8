import { type Start } from '../support.js';
/** Which of several violations a client is told of. */
export declare function order(start: Start): void;
//# sourceMappingURL=order.d.ts.map