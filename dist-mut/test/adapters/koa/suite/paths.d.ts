import { type Start } from '../support.js';
/** Which paths and methods there are. */
export declare function paths(start: Start): void;
//# sourceMappingURL=paths.d.ts.map