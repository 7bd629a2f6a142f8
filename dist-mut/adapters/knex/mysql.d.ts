import type { Engine } from './engine.js';
import { type Database, type ServerOptions } from './open.js';
/**
 * MySQL and MariaDB, Galera clusters too. Not every one of them can say which rows an insert skipped, and INSERT IGNORE
 * hides other failures than the one meant. So a batch is inserted plainly; where an id is taken the engine takes back the
 * whole statement, and the rest of the batch is tried again.
 */
export declare const mysql: Engine;
/**
 * A MySQL or MariaDB database. The URL's parameters are those of mysql2: `ssl` (a
 * JSON object), `connectTimeout` (milliseconds), `connectionLimit`, and so on.
 */
export declare function mysqlDatabase({ url, timeoutMs, warn }: ServerOptions): Database;
//# sourceMappingURL=mysql.d.ts.map