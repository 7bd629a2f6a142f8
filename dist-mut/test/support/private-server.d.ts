import { type Knex } from 'knex';
import type { Context } from 'mocha';
import type { DatabaseServer } from './database-servers.js';
/** How a server is made, started and asked. */
interface Kind {
    readonly name: string;
    readonly client: DatabaseServer['client'];
    /** The user that it runs as where this is root, whose rights it does not want. */
    readonly user: string;
    /** A database that is there from the beginning. */
    readonly database: string;
    readonly install: (folder: string) => Command;
    readonly run: (folder: string, port: number) => Command;
}
type Command = readonly [string, ...string[]];
/** The kinds of server of which a test can have one of its own. */
export declare const privateServers: {
    readonly postgres: Kind;
    readonly mariadb: Kind;
};
/** A database server that a test may stop, kill and trace as it likes. */
export declare class PrivateServer {
    #private;
    private constructor();
    /** Skips a test, by name, where the server cannot be run; where `CI=true` that is a failure. */
    static needed(context: Context, { install, run, name }: Kind): void;
    /** A new server, with nothing in it, that is not started. */
    static install(kind: Kind, folder: string): Promise<PrivateServer>;
    /** Where it is, as other tests know servers. */
    get server(): DatabaseServer;
    /**
     * Starts it, and waits until it answers.
     *
     * @param settings as on its command line
     * @param command what runs it, such as `strace …`
     */
    start(settings?: readonly string[], command?: readonly string[]): Promise<void>;
    /** A connection to its database; the caller destroys it. */
    connect(): Knex;
    /** Signals it with all of its processes: those of PostgreSQL lead groups of their own. */
    signal(signal: NodeJS.Signals): void;
    /** Ends it in good order, when nobody is connected to it any more; what runs it, too. */
    stop(): Promise<void>;
    /** Ends it without a warning. */
    kill(): Promise<void>;
}
export {};
//# sourceMappingURL=private-server.d.ts.map