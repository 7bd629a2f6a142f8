import { type Start } from '../support.js';
/** Who may come in. */
export declare function credentials(start: Start): void;
//# sourceMappingURL=credentials.d.ts.map