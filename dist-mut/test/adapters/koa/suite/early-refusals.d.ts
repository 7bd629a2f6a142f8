import { type Start } from '../support.js';
/** Answers to requests whose body has not come, or not to its end. */
export declare function earlyRefusals(start: Start): void;
//# sourceMappingURL=early-refusals.d.ts.map