import { type Config } from '../config.js';
/** Runs the service until it is told to stop. Resolves to the exit code of the process. */
export declare function serve(configured: Config): Promise<number>;
//# sourceMappingURL=serve.d.ts.map