import { type Knex } from 'knex';
import type { Context } from 'mocha';
/** Skips a test, by name, on a machine that cannot run a cluster; where `CI=true` that is a failure. */
export declare function needsGalera(context: Context): void;
/** Looks again and again until `isSo`; fails where that takes too long. */
export declare function until(what: string, isSo: () => Promise<boolean>): Promise<void>;
interface Ports {
    readonly sql: number;
    readonly group: number;
    readonly increments: number;
    readonly copies: number;
}
/** One server of a cluster. */
export declare class GaleraNode {
    #private;
    readonly name: string;
    /** Questions to this server, and to no other. They wait for what the cluster has committed before. */
    readonly sql: Knex;
    constructor(parent: string, name: string, ports: Ports);
    /** The URL of one of its databases. */
    url(database: string): string;
    /** Where the other servers of the cluster find this one. */
    get address(): string;
    /** Makes the folder of its data, with nobody's plants in it. */
    install(): Promise<void>;
    /** Starts it as a member of the cluster of all `addresses`, or as the first of them. */
    start(addresses: readonly string[], isFirst: boolean): void;
    /** A status of the server, by its name without `wsrep_`; `undefined` while it does not answer. */
    status(name: string): Promise<string | undefined>;
    /** Waits until it belongs to a working cluster of so many servers and has all that the others have. */
    synced(size: number): Promise<void>;
    /** Ends it without a warning. */
    kill(): Promise<void>;
}
/** Three servers on this machine that are one database. */
export declare class GaleraCluster {
    readonly nodes: readonly [GaleraNode, GaleraNode, GaleraNode];
    private constructor();
    /** A cluster that is not started; {@link stop} it in any case. */
    static in(folder: string): Promise<GaleraCluster>;
    start(): Promise<void>;
    /** Ends every server that still runs. */
    stop(): Promise<void>;
}
export {};
//# sourceMappingURL=galera-cluster.d.ts.map