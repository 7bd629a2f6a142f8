import 'reflect-metadata';
import { Container, ContainerModule, type GetOptions, type ServiceIdentifier } from 'inversify';
import { BatchingPlantRepository } from '../adapters/driven/batching/index.js';
import { createLogger, logStatistics } from '../adapters/driven/logging/index.js';
import { StaticTokenVerifier } from '../adapters/driven/static-token/index.js';
import { openApiDescription, PlantCodec } from '../adapters/driving/api/index.js';
import { CreatePlant, ReadPlants } from '../core/index.js';
import { builtInStorages } from './built-in-storages.js';
import type { Config } from './config.js';
import { readMaxConnections } from './open-files.js';
import { services } from './services.js';
import { readTokens } from './tokens.js';
import { readVersion } from './version.js';

export { services } from './services.js';

/** Gets a service of the container, which creates it at the first call. */
type GetService = <T>(service: ServiceIdentifier<T>, options?: GetOptions) => Promise<T>;

/** Binds every service but `Config`: each port to its adapter, each use case to its ports. */
export const plantStoreModule: ContainerModule = new ContainerModule(({ bind }) => {
  // `whenDefault` lets isReplaced recognise the binding.
  const single = <T>(service: ServiceIdentifier<T>, create: (get: GetService) => T | Promise<T>) =>
    bind(service)
      .toDynamicValue((context) => create((id, options) => context.getAsync(id, options)))
      .inSingletonScope()
      .whenDefault();

  // Imports dynamically what only some commands need, so that the others start faster.
  single(services.Logger, async (get) => {
    const { logLevel, warnings } = await get(services.Config);
    const log = await createLogger(logLevel);
    for (const warning of warnings) log.warn(warning);
    return log;
  });
  single(services.Metrics, async (get) => {
    const { managementPort } = await get(services.Config);
    if (managementPort === 'off') return undefined;
    const { Metrics } = await import('../adapters/driven/metrics/index.js');
    const metrics = new Metrics(readVersion());
    metrics.observe('log', logStatistics);
    return metrics;
  });

  // Driven adapters.
  for (const [scheme, { open }] of Object.entries(builtInStorages))
    bind(services.OpenStorage).toConstantValue(open).whenNamed(scheme);
  single(services.Storage, async (get) => {
    const { database, storageTimeoutMs: timeoutMs, readOnly = false } = await get(services.Config);
    const open = await get(services.OpenStorage, { name: database.scheme });
    return open({ url: database.url, timeoutMs, readOnly, log: await get(services.Logger) });
  });
  single(services.PlantRepository, async (get) => {
    const config = await get(services.Config);
    const metrics = await get(services.Metrics);
    const storage = await get(services.Storage);
    return new BatchingPlantRepository(metrics?.instrument(storage) ?? storage, {
      maxWrites: storage.maxWrites,
      timeoutMs: config.storageTimeoutMs,
    });
  });
  single(services.StaticTokens, async (get) => {
    return new StaticTokenVerifier(readTokens(await get(services.Config), await get(services.Logger)));
  });
  single(services.TokenVerifier, async (get) => {
    const staticTokens = await get(services.StaticTokens);
    const { jwtIssuer: issuer, jwtAudience: audience, jwtJwksUrl: jwksUrl } = await get(services.Config);
    if (issuer === undefined || audience === undefined || jwksUrl === undefined) return staticTokens;
    const { JwtVerifier } = await import('../adapters/driven/jwt/index.js');
    const jwts = new JwtVerifier({ issuer, audience, jwksUrl });
    (await get(services.Metrics))?.observe('jwtKeys', jwts.keys);
    return { verify: async (token: string) => (await staticTokens.verify(token)) ?? (await jwts.verify(token)) };
  });

  // The core.
  single(services.CreatePlant, async (get) => new CreatePlant(await get(services.PlantRepository)));
  single(services.ReadPlants, async (get) => new ReadPlants(await get(services.PlantRepository)));

  // Driving adapters.
  bind(services.OpenApiDescription).toConstantValue(openApiDescription);
  single(services.PlantCodec, async (get) => new PlantCodec(await get(services.OpenApiDescription)));
  single(services.HttpServer, async (get) => {
    const { AdmissionControl } = await import('../adapters/driving/http/index.js');
    const { createKoaServer } = await import('../adapters/driving/koa/index.js');
    const config = await get(services.Config);
    const log = await get(services.Logger);
    const metrics = await get(services.Metrics);
    const tokenVerifier = await get(services.TokenVerifier);
    const admission = new AdmissionControl(config);
    metrics?.observe('load', admission);
    return createKoaServer({
      ...config,
      createPlant: await get(services.CreatePlant),
      tokenVerifier,
      codec: await get(services.PlantCodec),
      description: await get(services.OpenApiDescription),
      admission,
      log,
      onRequestEnd: metrics?.onRequestEnd,
      maxConnections: readMaxConnections(),
    });
  });
  single(services.ManagementServer, async (get) => {
    const metrics = await get(services.Metrics);
    if (metrics === undefined) return undefined;
    const { ManagementServer } = await import('../adapters/driving/management/index.js');
    const server = await get(services.HttpServer);
    metrics.observe('server', server);
    const storage = await get(services.Storage);
    return new ManagementServer({ storage, metrics, isStopping: () => server.isStopping });
  });
});

/** Creates a container with the whole service. Get the parts with `getAsync`. */
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
