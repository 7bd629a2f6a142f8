import 'reflect-metadata';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BatchingPlantRepository } from '@plant-store/adapters/batching';
import { CreatePlant, CreatePlants, ReadPlants } from '@plant-store/core';
import { Container, ContainerModule, type ResolvedValueInjectOptions, type ServiceIdentifier } from 'inversify';
import { type Config, version } from './config.js';
import { createLogger, openStandardError } from './logger.js';
import { installPlugin } from './plugins.js';
import { services } from './services.js';
import { openStorage, storages, toScheme } from './storages.js';
import { AccessTokens, createTokenVerifier } from './tokens.js';

/** The build copies Swagger UI, for the page at `/docs`, into the package. */
const SWAGGER_UI = fileURLToPath(new URL('../swagger-ui', import.meta.url));

/** Injects every binding of a service. */
const all = <T>(serviceIdentifier: ServiceIdentifier<T>): ResolvedValueInjectOptions<T[]> => ({
  serviceIdentifier,
  isMultiple: true,
});

/** The core. */
const core = new ContainerModule(({ bind }) => {
  bind(services.CreatePlant).toResolvedValue((repository) => new CreatePlant(repository), [services.PlantRepository]);
  bind(services.CreatePlants).toResolvedValue((repository) => new CreatePlants(repository), [services.PlantRepository]);
  bind(services.ReadPlants).toResolvedValue((repository) => new ReadPlants(repository), [services.PlantRepository]);
});

/**
 * What the core and the driving adapters need. A service that only passes another one on is not bound with `toService`,
 * which would skip its activations.
 */
const drivenAdapters = new ContainerModule(({ bind }) => {
  for (const [scheme, open] of Object.entries(storages))
    bind(services.OpenStorage).toConstantValue(open).whenNamed(scheme);
  bind(services.ReadOnly).toConstantValue(false);
  bind(services.Storage)
    .toDynamicValue(async (context) => {
      const config = context.get(services.Config);
      const open = await context.getAsync(services.OpenStorage, { name: toScheme(config), optional: true });
      return openStorage(open, config, context.get(services.ReadOnly), async (error) =>
        (await context.getAsync(services.Logger)).warn({ err: error }, 'waiting for the database'),
      );
    })
    .onDeactivation((storage) => storage.close());
  bind(services.BatchRepository).toResolvedValue((storage) => storage, [services.Storage]);
  bind(services.GroupCommit)
    .toResolvedValue(
      (repository, { maxWrites }, { storageTimeoutMs: timeoutMs }) =>
        new BatchingPlantRepository(repository, { maxWrites, timeoutMs }),
      [services.BatchRepository, services.Storage, services.Config],
    )
    .onDeactivation((repository) => repository.drain());
  bind(services.PlantRepository).toResolvedValue((repository) => repository, [services.GroupCommit]);

  bind(services.AccessTokens).toResolvedValue((config) => new AccessTokens(config), [services.Config]);
  bind(services.TokenVerifier).toResolvedValue(createTokenVerifier, [services.AccessTokens, services.Config]);

  bind(services.LogDestination).toResolvedValue(openStandardError);
  bind(services.Logger).toResolvedValue(createLogger, [services.LogDestination, services.Config]);
});

/** The HTTP API. Imports its libraries when it is loaded, so that commands without it start faster. */
export const httpModule: ContainerModule = new ContainerModule(async ({ bind }) => {
  const { addRoutes, createBaseApp, HttpServer } = await import('@plant-store/adapters/koa');
  bind(services.HttpCreatePlant).toResolvedValue((createPlant) => createPlant, [services.CreatePlant]);
  bind(services.Load).toConstantValue({ inFlight: 0, inFlightBytes: 0 });
  bind(services.ObserveRequest).toConstantValue(undefined);
  bind(services.KoaApp).toResolvedValue(
    ({ accessLog }, log, observe) => createBaseApp({ log, accessLog, observe }),
    [services.Config, services.Logger, services.ObserveRequest],
  );
  bind(services.RequestListener).toResolvedValue(
    (app, config, createPlant, tokenVerifier, load) => {
      const swaggerUiFolder = config.docs ? SWAGGER_UI : undefined;
      return addRoutes(app, { ...config, swaggerUiFolder, createPlant, tokenVerifier, load }).callback();
    },
    [services.KoaApp, services.Config, services.HttpCreatePlant, services.TokenVerifier, services.Load],
  );
  bind(services.HttpServer)
    .toResolvedValue(
      (listener, config, log, observe) =>
        new HttpServer(listener, { ...config, log, observe, maxConnections: readMaxConnections() }),
      [services.RequestListener, services.Config, services.Logger, services.ObserveRequest],
    )
    .onDeactivation((server) => server.stop());
});

/** Metrics and the management listener. */
export const managementModule: ContainerModule = new ContainerModule(async ({ bind }) => {
  const { PrometheusMetrics } = await import('@plant-store/adapters/metrics');
  const { createManagementServer } = await import('@plant-store/adapters/management');
  bind(services.Metrics).toResolvedValue(() => new PrometheusMetrics(version));
  bind(services.ReadinessCheck).toResolvedValue(
    (storage) => ({ name: 'storage', check: () => storage.ready() }),
    [services.Storage],
  );
  bind(services.ManagementServer)
    .toResolvedValue(
      (checks, metrics, server) => createManagementServer({ checks, metrics, isStopping: () => server.isStopping }),
      [all(services.ReadinessCheck), services.Metrics, services.HttpServer],
    )
    .onDeactivation((server) => server.stop());
});

/**
 * Creates a container with the core, what every command needs, further modules, and the plugins of the settings. Opens
 * nothing before the first `getAsync`.
 * @throws {InvalidConfig} A plugin cannot be loaded, or fails.
 */
export async function createContainer(config: Config, ...modules: readonly ContainerModule[]): Promise<Container> {
  // A part that a plugin binds is created once, too.
  const container = new Container({ defaultScope: 'Singleton' });
  container.bind(services.Config).toConstantValue(config);
  await container.loadAsync(core, drivenAdapters, ...modules);
  for (const plugin of config.plugins) await installPlugin(plugin, container);
  return container;
}

/** Finishes the requests in progress, and closes the storage: first what calls, then what it calls. */
export async function closeStorage(container: Container): Promise<void> {
  await container
    .unbindAsync(services.HttpServer)
    .finally(() => container.unbindAsync(services.GroupCommit))
    .finally(() => container.unbindAsync(services.Storage));
}

/** Closes everything that was opened, the storage first. */
export async function closeContainer(container: Container): Promise<void> {
  await closeStorage(container).finally(() => container.unbindAllAsync());
}

/** Returns the maximum number of client connections: each is an open file, and 128 files are for everything else. */
function readMaxConnections(): number {
  const limits = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'utf8') : '';
  const files = /^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY;
  return Math.max(1, Number(files) - 128);
}
