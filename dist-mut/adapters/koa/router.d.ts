import Router from '@koa/router';
import { type CreatePlant, type TokenVerifier } from '../../core/index.js';
import { type OpenApiDescription, type PlantCodec } from '../wire/index.js';
import type { Admission } from './admission.js';
/** What the HTTP interface is made of. */
export interface PlantRouterOptions {
    readonly createPlant: CreatePlant;
    readonly tokenVerifier: TokenVerifier;
    readonly codec: PlantCodec;
    readonly description: OpenApiDescription;
    readonly admission: Admission;
    /** A path that all others stand under, such as `/garden`; empty for none. */
    readonly basePath: string;
    /** The largest body, inflated, in bytes. */
    readonly bodyLimitBytes: number;
    /** How long a create may wait for the storage, in milliseconds. */
    readonly storageTimeoutMs: number;
}
/**
 * The paths of the interface (specification, "Endpoints"). Its handlers throw {@link Refusal}s; `createApp` shows what
 * to do with them.
 */
export declare function plantRouter(options: PlantRouterOptions): Router;
//# sourceMappingURL=router.d.ts.map