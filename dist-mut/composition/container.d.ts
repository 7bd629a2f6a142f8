import 'reflect-metadata';
import { Container, ContainerModule, type ServiceIdentifier } from 'inversify';
import type { Logger } from 'pino';
import type { HttpServer } from '../adapters/koa/index.js';
import { StaticTokenVerifier } from '../adapters/static-token/index.js';
import { type OpenApiDescription, PlantCodec } from '../adapters/wire/index.js';
import { CreatePlant, type PlantRepository, ReadPlants, type TokenVerifier } from '../core/index.js';
import type { Config } from './config.js';
/** The names under which the parts are bound; bind another part to a name to put it in that place. */
export declare const services: {
    readonly Config: ServiceIdentifier<Config>;
    readonly Logger: ServiceIdentifier<Logger>;
    readonly PlantRepository: ServiceIdentifier<PlantRepository>;
    readonly TokenVerifier: ServiceIdentifier<TokenVerifier>;
    readonly StaticTokens: ServiceIdentifier<StaticTokenVerifier>;
    readonly CreatePlant: ServiceIdentifier<CreatePlant>;
    readonly ReadPlants: ServiceIdentifier<ReadPlants>;
    readonly PlantCodec: ServiceIdentifier<PlantCodec>;
    readonly OpenApiDescription: ServiceIdentifier<OpenApiDescription>;
    readonly HttpServer: ServiceIdentifier<HttpServer>;
};
/** Given a configuration, which adapter goes into which port. */
export declare const plantStoreModule: ContainerModule;
/** A container with the whole service in it, for one configuration. Get its parts with `getAsync`. */
export declare function createContainer(config: Config): Container;
//# sourceMappingURL=container.d.ts.map