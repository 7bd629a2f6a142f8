import Koa from 'koa';
import { type PlantRouterOptions } from './router.js';
/** Where this adapter writes what happened; a pino logger is one. */
export interface Log {
    info(fields: object, message: string): void;
    error(fields: object, message: string): void;
}
/** The whole HTTP interface as a Koa app: routes, an Error object for whatever goes wrong, and a log line a request. */
export declare function createApp(options: PlantRouterOptions & {
    readonly log: Log;
}): Koa;
/** The id that the client gave its request where it is a sane one, else a new one. */
export declare function requestIdOf(given: string | string[] | undefined): string;
//# sourceMappingURL=app.d.ts.map