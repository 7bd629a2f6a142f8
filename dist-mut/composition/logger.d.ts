import { type Logger } from 'pino';
import type { Config } from './config.js';
/** JSON lines on standard error; readable lines where that is a terminal. */
export declare function createLogger({ logLevel }: Pick<Config, 'logLevel'>): Promise<Logger>;
/**
 * What is logged of an error: its class, its code and where it happened, and so on down its causes. Its message only
 * where it is one of ours: those of others quote what they were given (JSON.parse the body, Knex the SQL with all values).
 */
export declare function describeError(error: unknown, causes?: number): object;
//# sourceMappingURL=logger.d.ts.map