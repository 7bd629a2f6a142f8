import 'reflect-metadata';
import { fileURLToPath } from 'node:url';
import { BatchingPlantRepository } from '@plant-store/adapters/batching';
import { createMetrics, MeasuredPlantRepository, type Metrics, measureRequests } from '@plant-store/adapters/metrics';
import { CreatePlant } from '@plant-store/core';
import { ContainerModule, type ResolvedValueInjectOptions } from 'inversify';
import type { Logger } from 'pino';
import { type Config, version } from './config.js';
import { createLogger, openStandardError } from './logger.js';
import { installPlugin } from './plugins.js';
import { ServiceContainer } from './service-container.js';
import { services } from './services.js';
import { type OpenStorage, openStorage, storages, toScheme } from './storages.js';
import { AccessTokens, createTokenVerifier } from './tokens.js';

/** The build copies Swagger UI, for the page at `/docs`, into the package. */
const SWAGGER_UI = fileURLToPath(new URL('../swagger-ui', import.meta.url));

/** Injects the metrics, or `undefined` if there are none. */
const METRICS: ResolvedValueInjectOptions<Metrics | undefined> = {
  serviceIdentifier: services.Metrics,
  optional: true,
};

/** The hexagon. `start` adds the listeners. Commands construct the use cases that they call. */
const parts = (container: ServiceContainer, config: Config, readOnly: boolean) =>
  new ContainerModule(({ bind }) => {
    bind(services.Config).toConstantValue(config);

    // Driven adapters.
    if (config.managementPort !== 'off') bind(services.Metrics).toResolvedValue(() => createMetrics(version));
    bind(services.LogDestination).toResolvedValue(openStandardError);
    bind(services.Logger).toResolvedValue(createLogger, [services.LogDestination, services.Config, METRICS]);
    bind(services.AccessTokens).toResolvedValue(() => new AccessTokens(config));
    bind(services.TokenVerifier).toResolvedValue(createTokenVerifier, [services.AccessTokens, services.Config]);
    for (const [scheme, open] of Object.entries(storages))
      bind(services.OpenStorage).toConstantValue(open).whenNamed(scheme);
    bind(services.Storage).toResolvedValue(
      async (candidates: OpenStorage[], log: Logger) => {
        // The last is that of a plugin, if one has bound the same scheme.
        const storage = await openStorage(candidates.at(-1), config, readOnly, log);
        // Closes what decorates it, too.
        container.onClose('storage', async () => (await container.getAsync(services.Storage)).close());
        return storage;
      },
      [{ serviceIdentifier: services.OpenStorage, name: toScheme(config), isMultiple: true }, services.Logger],
    );
    // Only passes the storage on. A plugin that replaces it loses neither metrics nor group commit.
    bind(services.BatchRepository).toResolvedValue((storage) => storage, [services.Storage]);
    bind(services.PlantRepository).toResolvedValue(
      (repository, { maxWrites }, metrics) => {
        const measured = metrics ? new MeasuredPlantRepository(repository, metrics) : repository;
        const groupCommit = new BatchingPlantRepository(measured, { maxWrites, timeoutMs: config.storageTimeoutMs });
        container.onClose('group commit', () => groupCommit.drain());
        return groupCommit;
      },
      [services.BatchRepository, services.Storage, METRICS],
    );

    // The core.
    bind(services.HttpCreatePlant).toResolvedValue(
      (repository) => new CreatePlant(repository),
      [services.PlantRepository],
    );

    // Driving adapters.
    const load = { inFlight: 0, inFlightBytes: 0 };
    bind(services.ObserveRequest).toResolvedValue((metrics) => metrics && measureRequests(metrics, load), [METRICS]);
    bind(services.KoaApp).toResolvedValue(
      async (log, observe) => {
        const { createBaseApp } = await import('@plant-store/adapters/koa');
        return createBaseApp({ ...config, log, observe });
      },
      [services.Logger, services.ObserveRequest],
    );
    bind(services.RequestListener).toResolvedValue(
      async (app, createPlant, tokenVerifier) => {
        const { addRoutes } = await import('@plant-store/adapters/koa');
        const swaggerUiFolder = config.docs ? SWAGGER_UI : undefined;
        return addRoutes(app, { ...config, swaggerUiFolder, createPlant, tokenVerifier, load }).callback();
      },
      [services.KoaApp, services.HttpCreatePlant, services.TokenVerifier],
    );
  });

/**
 * Creates a container with the parts and the plugins of the settings. Opens nothing before the first `getAsync`.
 * @param options.readOnly Whether plants are only read, so that opening the storage creates and changes nothing.
 * @throws {InvalidConfig} A plugin cannot be loaded, or fails.
 */
export async function createContainer(config: Config, { readOnly = false } = {}): Promise<ServiceContainer> {
  const container = new ServiceContainer(config.shutdownTimeoutMs);
  container.load(parts(container, config, readOnly));
  for (const plugin of config.plugins) await installPlugin(plugin, container);
  return container;
}
