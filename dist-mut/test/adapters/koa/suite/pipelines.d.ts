import { type Start } from '../support.js';
/** Several requests on one connection. */
export declare function pipelines(start: Start): void;
//# sourceMappingURL=pipelines.d.ts.map