/** Where plants are kept, as `DATABASE_URL` says it. */
export type DatabaseUrl = {
    readonly kind: 'memory';
} | {
    readonly kind: 'sqlite';
    readonly path: string;
} | {
    readonly kind: 'postgres' | 'mysql';
    readonly url: string;
};
/** What a `DATABASE_URL` says; `undefined` where it is not allowed. */
export declare function parseDatabaseUrl(text: string): DatabaseUrl | undefined;
/** An https URL without a credential, or an http one of this machine; `undefined` for any other text. */
export declare function parseJwksUrl(text: string): URL | undefined;
/** What of a bad value cannot hold a password: where one stands in a malformed URL, nobody knows. */
export declare function showDatabaseUrl(text: string): string;
/** Whether only programs of this machine can reach a listener on `host`. */
export declare function isLoopback(host: string): boolean;
//# sourceMappingURL=urls.d.ts.map