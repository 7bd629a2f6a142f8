import type { Engine } from './engine.js';
import { type Database, type ServerOptions } from './open.js';
/** PostgreSQL. Values travel as JSON in one bound text, so that the statement is the same for one plant and a thousand. */
export declare const postgres: Engine;
/**
 * A PostgreSQL database. The URL's parameters are those of libpq and of the pg
 * driver: `sslmode`, `sslrootcert`, `connect_timeout` (seconds), `statement_timeout` (milliseconds), `max` (connections).
 */
export declare function postgresDatabase({ url, timeoutMs, warn }: ServerOptions): Database;
//# sourceMappingURL=postgres.d.ts.map