import 'reflect-metadata';
import { Container, ContainerModule } from 'inversify';
import { BatchingPlantRepository } from '../adapters/batching/index.js';
import { openRepository } from '../adapters/knex/index.js';
import { MemoryPlantRepository } from '../adapters/memory/index.js';
import { StaticTokenVerifier } from '../adapters/static-token/index.js';
import { loadDescription, PlantCodec } from '../adapters/wire/index.js';
import { CreatePlant, ReadPlants } from '../core/index.js';
import { databaseOf } from './database.js';
import { createLogger } from './logger.js';
import { tokensOf } from './tokens.js';
/** The names under which the parts are bound; bind another part to a name to put it in that place. */
export const services = {
    Config: identifier('Config'),
    Logger: identifier('Logger'),
    PlantRepository: identifier('PlantRepository'),
    TokenVerifier: identifier('TokenVerifier'),
    StaticTokens: identifier('StaticTokens'),
    CreatePlant: identifier('CreatePlant'),
    ReadPlants: identifier('ReadPlants'),
    PlantCodec: identifier('PlantCodec'),
    OpenApiDescription: identifier('OpenApiDescription'),
    HttpServer: identifier('HttpServer'),
};
/** Given a configuration, which adapter goes into which port. */
export const plantStoreModule = new ContainerModule(({ bind }) => {
    const { Config, Logger, PlantRepository, TokenVerifier, StaticTokens, OpenApiDescription } = services;
    bind(Logger).toResolvedValue(createLogger, [Config]).inSingletonScope();
    bind(PlantRepository).toResolvedValue(openPlants, [Config, Logger]).inSingletonScope();
    bind(StaticTokens)
        .toResolvedValue((config) => new StaticTokenVerifier(tokensOf(config)), [Config])
        .inSingletonScope();
    bind(TokenVerifier).toResolvedValue(verifierOf, [Config, StaticTokens]).inSingletonScope();
    bind(services.CreatePlant)
        .toResolvedValue((plants) => new CreatePlant(plants), [PlantRepository])
        .inSingletonScope();
    bind(services.ReadPlants)
        .toResolvedValue((plants) => new ReadPlants(plants), [PlantRepository])
        .inSingletonScope();
    bind(OpenApiDescription).toResolvedValue(loadDescription).inSingletonScope();
    bind(services.PlantCodec)
        .toResolvedValue((description) => new PlantCodec(description), [OpenApiDescription])
        .inSingletonScope();
    bind(services.HttpServer)
        .toResolvedValue(createHttpServer, [
        Config,
        Logger,
        services.CreatePlant,
        TokenVerifier,
        services.PlantCodec,
        OpenApiDescription,
    ])
        .inSingletonScope();
});
/** A container with the whole service in it, for one configuration. Get its parts with `getAsync`. */
export function createContainer(config) {
    const container = new Container();
    container.bind(services.Config).toConstantValue(config);
    container.load(plantStoreModule);
    return container;
}
async function openPlants(config, log) {
    const database = databaseOf(config, (warning) => log.warn(warning));
    if (database === undefined)
        return new MemoryPlantRepository();
    return new BatchingPlantRepository(await openRepository(database), {
        writesMax: config.maxWrites ?? database.engine.writesMax,
        waitingRowsMax: config.maxPending,
        waitingBytesMax: 2 * config.maxPendingBytes,
    });
}
/** Static tokens, and JWTs where an issuer is configured. */
async function verifierOf(config, staticTokens) {
    const { jwtIssuer, jwtAudience, jwtJwksUrl } = config;
    if (jwtIssuer === undefined || jwtAudience === undefined || jwtJwksUrl === undefined)
        return staticTokens;
    const { JwtVerifier } = await import('../adapters/jwt/index.js');
    const jwts = new JwtVerifier({ issuer: jwtIssuer, audience: jwtAudience, jwksUrl: jwtJwksUrl });
    return { verify: async (token) => (await staticTokens.verify(token)) ?? (await jwts.verify(token)) };
}
/** Koa and what comes with it are loaded here: `import` and `export` do without. */
async function createHttpServer(config, log, createPlant, tokenVerifier, codec, description) {
    const { Admission, createApp, HttpServer } = await import('../adapters/koa/index.js');
    const admission = new Admission(config);
    const app = createApp({
        createPlant,
        tokenVerifier,
        codec,
        description,
        admission,
        log,
        basePath: config.basePath ?? '',
        bodyLimitBytes: config.bodyLimitBytes,
        storageTimeoutMs: config.storageTimeoutMs,
    });
    return new HttpServer(app, admission, config, log);
}
function identifier(name) {
    return Symbol.for(`plant-store:${name}`);
}
//# sourceMappingURL=container.js.map