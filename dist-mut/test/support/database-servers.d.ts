import { type Knex } from 'knex';
/** A database server that tests use where there is one, in databases of their own. */
export interface DatabaseServer {
    readonly name: string;
    readonly client: 'pg' | 'mysql2';
    /** The URL of a database that is always there, for a user who may create others. */
    readonly url: string;
}
export declare const postgresServer: DatabaseServer;
export declare const mariadbServer: DatabaseServer;
/** Databases on a server. */
export interface Databases {
    /** The URL of a new, empty one. */
    create(): Promise<string>;
    /** A connection to one, or to the server; it is closed when the surrounding suite ends. */
    connect(url?: string): Knex;
}
/**
 * Databases for the surrounding suite, dropped at its end. Where the server is not there its tests are skipped, by name.
 * Call it inside `describe`.
 */
export declare function databasesOn(server: DatabaseServer): Databases;
//# sourceMappingURL=database-servers.d.ts.map