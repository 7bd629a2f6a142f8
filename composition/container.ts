import 'reflect-metadata';
import { Container, ContainerModule, type ServiceIdentifier } from 'inversify';
import type { Logger } from 'pino';
import { BatchingPlantRepository } from '../adapters/batching/index.js';
import { openRepository } from '../adapters/knex/index.js';
import type { HttpServer } from '../adapters/koa/index.js';
import type { ManagementServer, Metrics } from '../adapters/management/index.js';
import { MemoryPlantRepository } from '../adapters/memory/index.js';
import { StaticTokenVerifier } from '../adapters/static-token/index.js';
import { loadDescription, type OpenApiDescription, PlantCodec } from '../adapters/wire/index.js';
import { CreatePlant, type PlantRepository, ReadPlants, type TokenVerifier } from '../core/index.js';
import type { Config } from './config.js';
import { databaseOf } from './database.js';
import { createLogger } from './logger.js';
import { tokensOf } from './tokens.js';
import { version } from './version.js';

/** The names under which the parts are bound; bind another part to a name to put it in that place. */
export const services = {
  Config: identifier<Config>('Config'),
  Logger: identifier<Logger>('Logger'),
  PlantRepository: identifier<PlantRepository>('PlantRepository'),
  TokenVerifier: identifier<TokenVerifier>('TokenVerifier'),
  StaticTokens: identifier<StaticTokenVerifier>('StaticTokens'),
  CreatePlant: identifier<CreatePlant>('CreatePlant'),
  ReadPlants: identifier<ReadPlants>('ReadPlants'),
  PlantCodec: identifier<PlantCodec>('PlantCodec'),
  OpenApiDescription: identifier<OpenApiDescription>('OpenApiDescription'),
  HttpServer: identifier<HttpServer>('HttpServer'),
  Metrics: identifier<Metrics | undefined>('Metrics'),
  ManagementServer: identifier<ManagementServer | undefined>('ManagementServer'),
} as const;

/** Given a configuration, which adapter goes into which port. */
export const plantStoreModule: ContainerModule = new ContainerModule(({ bind }) => {
  const { Config, Logger, Metrics, PlantRepository, TokenVerifier, StaticTokens, OpenApiDescription } = services;

  bind(Logger).toResolvedValue(createLogger, [Config]).inSingletonScope();
  bind(Metrics).toResolvedValue(createMetrics, [Config]).inSingletonScope();
  bind(PlantRepository).toResolvedValue(openPlants, [Config, Logger, Metrics]).inSingletonScope();
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
      Metrics,
      services.CreatePlant,
      TokenVerifier,
      services.PlantCodec,
      OpenApiDescription,
    ])
    .inSingletonScope();
  bind(services.ManagementServer)
    .toResolvedValue(createManagementServer, [Metrics, PlantRepository, services.HttpServer])
    .inSingletonScope();
});

/** A container with the whole service in it, for one configuration. Get its parts with `getAsync`. */
export function createContainer(config: Config): Container {
  const container = new Container();
  container.bind(services.Config).toConstantValue(config);
  container.load(plantStoreModule);
  return container;
}

/** Where nobody can ask for metrics, none are made. */
async function createMetrics({ managementPort }: Config): Promise<Metrics | undefined> {
  if (managementPort === 'off') return undefined;
  const { Metrics } = await import('../adapters/management/index.js');
  return new Metrics(version());
}

async function openPlants(config: Config, log: Logger, metrics: Metrics | undefined): Promise<PlantRepository> {
  const database = databaseOf(config, (warning) => log.warn(warning));
  const engine = database ? await openRepository(database) : new MemoryPlantRepository();
  return new BatchingPlantRepository(metrics?.observed(engine) ?? engine, {
    writesMax: config.maxWrites ?? database?.engine.writesMax ?? 1,
    waitingRowsMax: config.maxPending,
    waitingBytesMax: 2 * config.maxPendingBytes,
  });
}

/** Static tokens, and JWTs where an issuer is configured. */
async function verifierOf(config: Config, staticTokens: TokenVerifier): Promise<TokenVerifier> {
  const { jwtIssuer, jwtAudience, jwtJwksUrl } = config;
  if (jwtIssuer === undefined || jwtAudience === undefined || jwtJwksUrl === undefined) return staticTokens;
  const { JwtVerifier } = await import('../adapters/jwt/index.js');
  const jwts = new JwtVerifier({ issuer: jwtIssuer, audience: jwtAudience, jwksUrl: jwtJwksUrl });
  return { verify: async (token) => (await staticTokens.verify(token)) ?? (await jwts.verify(token)) };
}

/** Koa and what comes with it are loaded here: `import` and `export` do without. */
async function createHttpServer(
  config: Config,
  log: Logger,
  metrics: Metrics | undefined,
  createPlant: CreatePlant,
  tokenVerifier: TokenVerifier,
  codec: PlantCodec,
  description: OpenApiDescription,
): Promise<HttpServer> {
  const { Admission, createApp, HttpServer } = await import('../adapters/koa/index.js');
  const admission = new Admission(config);
  metrics?.watch(admission);
  const onAnswered = metrics?.onAnswered;
  const app = createApp({
    createPlant,
    tokenVerifier,
    codec,
    description,
    admission,
    log,
    onAnswered,
    docs: config.docs,
    basePath: config.basePath ?? '',
    bodyLimitBytes: config.bodyLimitBytes,
    storageTimeoutMs: config.storageTimeoutMs,
  });
  return new HttpServer(app, admission, config, { log, onAnswered });
}

async function createManagementServer(
  metrics: Metrics | undefined,
  plants: PlantRepository,
  server: HttpServer,
): Promise<ManagementServer | undefined> {
  if (metrics === undefined) return undefined;
  const { ManagementServer } = await import('../adapters/management/index.js');
  return new ManagementServer({
    plants,
    metrics,
    isStopping: () => server.isStopping,
  });
}

function identifier<T>(name: string): ServiceIdentifier<T> {
  return Symbol.for(`plant-store:${name}`);
}
