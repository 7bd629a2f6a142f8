import 'reflect-metadata';
import { Container, ContainerModule, type ResolutionContext, type ServiceIdentifier } from 'inversify';
import { openApiDescription, PlantCodec } from '../adapters/api/index.js';
import { BatchingPlantRepository } from '../adapters/batching/index.js';
import { openRepository } from '../adapters/knex/index.js';
import { MemoryPlantRepository } from '../adapters/memory/index.js';
import { StaticTokenVerifier } from '../adapters/static-token/index.js';
import { CreatePlant, ReadPlants } from '../core/index.js';
import type { Config } from './config.js';
import { createDatabase } from './database.js';
import { countDroppedLines, createLogger } from './logger.js';
import { maxConnections } from './open-files.js';
import { services } from './services.js';
import { configuredTokens } from './tokens.js';
import { readVersion } from './version.js';

export { services } from './services.js';

/** Binds every service but `Config`: each port to its adapter, each use case to its ports. */
export const plantStoreModule: ContainerModule = new ContainerModule(({ bind }) => {
  // `whenDefault` lets isReplaced recognise the binding.
  const single = <T>(service: ServiceIdentifier<T>, create: (context: ResolutionContext) => T | Promise<T>) =>
    bind(service).toDynamicValue(create).inSingletonScope().whenDefault();

  // Imports dynamically what only some commands need, so that the others start faster.
  single(services.Logger, async (context) => createLogger(await context.getAsync(services.Config)));
  single(services.Metrics, async (context) => {
    const { managementPort } = await context.getAsync(services.Config);
    if (managementPort === 'off') return undefined;
    const { Metrics } = await import('../adapters/metrics/index.js');
    const metrics = new Metrics(readVersion());
    metrics.observeDroppedLines(countDroppedLines);
    return metrics;
  });

  // Driven adapters.
  single(services.Database, async (context) => {
    const log = await context.getAsync(services.Logger);
    return createDatabase(await context.getAsync(services.Config), { warn: (text) => log.warn(text) });
  });
  single(services.Storage, async (context) => {
    const database = await context.getAsync(services.Database);
    return database ? openRepository(database) : new MemoryPlantRepository();
  });
  single(services.PlantRepository, async (context) => {
    const config = await context.getAsync(services.Config);
    const database = await context.getAsync(services.Database);
    const metrics = await context.getAsync(services.Metrics);
    const storage = await context.getAsync(services.Storage);
    assertMethods('Storage', storage, ['add', 'readAll', 'ready', 'close']);
    return new BatchingPlantRepository(metrics?.instrument(storage) ?? storage, {
      maxWrites: config.maxWrites ?? database?.engine.maxWrites ?? 1,
      maxPendingRows: config.maxPending,
      // A code unit counts 2 bytes here and at least 1 in a body, so AdmissionControl rejects first.
      maxPendingBytes: 2 * config.maxPendingBytes,
    });
  });
  single(services.StaticTokens, async (context) => {
    return new StaticTokenVerifier(configuredTokens(await context.getAsync(services.Config)));
  });
  single(services.TokenVerifier, async (context) => {
    const staticTokens = await context.getAsync(services.StaticTokens);
    const { jwtIssuer: issuer, jwtAudience: audience, jwtJwksUrl: jwksUrl } = await context.getAsync(services.Config);
    if (issuer === undefined || audience === undefined || jwksUrl === undefined) return staticTokens;
    const { JwtVerifier } = await import('../adapters/jwt/index.js');
    const jwts = new JwtVerifier({ issuer, audience, jwksUrl });
    return { verify: async (token: string) => (await staticTokens.verify(token)) ?? (await jwts.verify(token)) };
  });

  // The core.
  single(services.CreatePlant, async (context) => new CreatePlant(await context.getAsync(services.PlantRepository)));
  single(services.ReadPlants, async (context) => new ReadPlants(await context.getAsync(services.PlantRepository)));

  // Driving adapters.
  bind(services.OpenApiDescription).toConstantValue(openApiDescription);
  single(services.PlantCodec, async (context) => new PlantCodec(await context.getAsync(services.OpenApiDescription)));
  single(services.HttpServer, async (context) => {
    const { AdmissionControl, createApp, HttpServer } = await import('../adapters/koa/index.js');
    const config = await context.getAsync(services.Config);
    const log = await context.getAsync(services.Logger);
    const metrics = await context.getAsync(services.Metrics);
    const tokenVerifier = await context.getAsync(services.TokenVerifier);
    assertMethods('TokenVerifier', tokenVerifier, ['verify']);
    const admission = new AdmissionControl(config);
    metrics?.observeLoad(admission);
    const onRequestEnd = metrics?.onRequestEnd;
    const app = createApp({
      ...config,
      createPlant: await context.getAsync(services.CreatePlant),
      tokenVerifier,
      codec: await context.getAsync(services.PlantCodec),
      description: await context.getAsync(services.OpenApiDescription),
      admission,
      log,
      onRequestEnd,
      basePath: config.basePath ?? '',
    });
    return new HttpServer(app, { ...config, admission, log, onRequestEnd, maxConnections: maxConnections() });
  });
  single(services.ManagementServer, async (context) => {
    const metrics = await context.getAsync(services.Metrics);
    if (metrics === undefined) return undefined;
    const { ManagementServer } = await import('../adapters/management/index.js');
    const server = await context.getAsync(services.HttpServer);
    const repository = await context.getAsync(services.PlantRepository);
    return new ManagementServer({ repository, metrics, isStopping: () => server.isStopping });
  });
});

/** Checks that an adapter has these methods: one from a plugin might not be type-checked. */
function assertMethods<T>(service: string, adapter: T, methods: readonly (keyof T & string)[]): void {
  const missing = methods.filter((method) => typeof adapter?.[method] !== 'function');
  if (missing.length > 0) throw new TypeError(`services.${service} lacks these methods: ${missing.join(', ')}`);
}

/** Creates a container with the whole service. Get its parts with `getAsync`. */
export function createContainer(config: Config): Container {
  const container = new Container({ defaultScope: 'Singleton' });
  container.bind(services.Config).toConstantValue(config);
  container.load(plantStoreModule);
  return container;
}

/** Returns whether a plugin or a program has replaced one of the services. */
export function isReplaced(container: Container, ...replaceable: readonly ServiceIdentifier[]): boolean {
  // A default binding never matches a named request; any other binding does.
  return replaceable.some((service) => !container.isBound(service) || container.isBound(service, { name: Symbol() }));
}
