import { type Start } from '../support.js';
/** What a client is told where something behind the interface is broken. */
export declare function storage(start: Start): void;
//# sourceMappingURL=storage.d.ts.map