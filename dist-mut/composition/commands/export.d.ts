import type { Config } from '../config.js';
/** Writes the whole store as NDJSON to standard output. Resolves to the exit code of the process. */
export declare function exportAll(config: Config): Promise<number>;
//# sourceMappingURL=export.d.ts.map