import 'reflect-metadata';
import { fileURLToPath } from 'node:url';
import { openApiDescription } from '@plant-store/adapters/api';
import { BatchingPlantWriter } from '@plant-store/adapters/batching';
import { CreatePlant } from '@plant-store/core';
import { ContainerModule } from 'inversify';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import { createLogger, openStandardError } from './logger.js';
import { installPlugin } from './plugins.js';
import { ServiceContainer } from './service-container.js';
import { services } from './services.js';
import { type OpenStorage, openStorage, storages, toScheme } from './storages.js';
import { AccessTokens, createTokenVerifier } from './tokens.js';

/** Injects the metrics, or `undefined` if there are none. */
const METRICS = { serviceIdentifier: services.Metrics, optional: true } as const;

/** The hexagon. `start` adds the listeners. Commands construct the use cases that they call. */
const parts = (container: ServiceContainer, config: Config, readOnly: boolean, hasMetrics: boolean) =>
  new ContainerModule(({ bind }) => {
    // Driven adapters.
    if (hasMetrics) bind(services.Metrics).toResolvedValue(async () => (await import('./metrics.js')).createMetrics());
    bind(services.LogDestination).toResolvedValue(openStandardError);
    bind(services.Logger).toResolvedValue((to) => createLogger(to, config), [services.LogDestination]);
    bind(services.AccessTokens).toResolvedValue(() => new AccessTokens(config));
    bind(services.TokenVerifier).toResolvedValue(
      (tokens) => createTokenVerifier(tokens, config),
      [services.AccessTokens],
    );
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
    bind(services.BatchWriter).toResolvedValue(
      async (storage, registry) => {
        if (!registry) return storage;
        const { MeasuredPlantWriter } = await import('@plant-store/adapters/metrics');
        return new MeasuredPlantWriter(storage, registry);
      },
      [services.Storage, METRICS],
    );
    bind(services.PlantWriter).toResolvedValue(
      (writer, { maxWrites }) => {
        const groupCommit = new BatchingPlantWriter(writer, { maxWrites, timeoutMs: config.storageTimeoutMs });
        container.onClose('group commit', () => groupCommit.drain());
        return groupCommit;
      },
      [services.BatchWriter, services.Storage],
    );

    // The core.
    bind(services.CreatePlant).toResolvedValue((writer) => new CreatePlant(writer), [services.PlantWriter]);

    // Driving adapters.
    bind(services.Description).toResolvedValue(() => structuredClone(openApiDescription));
    const inFlight = { requests: 0, bytes: 0 };
    bind(services.ObserveRequest).toResolvedValue(
      async (registry) => registry && (await import('./metrics.js')).measureRequests(registry, inFlight),
      [METRICS],
    );
    bind(services.KoaApp).toResolvedValue(
      async (log, observe) => {
        const { createBaseApp } = await import('@plant-store/adapters/koa');
        return createBaseApp({ ...config, log, observe });
      },
      [services.Logger, services.ObserveRequest],
    );
    bind(services.RequestListener).toResolvedValue(
      async (app, createPlant, tokenVerifier, description) => {
        const { addRoutes } = await import('@plant-store/adapters/koa');
        // Inversify's types know no list beside other values.
        const routes = await container.getAllAsync(services.ClientRoutes, { optional: true });
        container.hasDocs = config.docs;
        // The build copies it into the package.
        const swaggerUiFolder = config.docs ? fileURLToPath(new URL('../swagger-ui', import.meta.url)) : undefined;
        const options = { createPlant, tokenVerifier, routes, description, swaggerUiFolder, inFlight };
        return addRoutes(app, { ...config, ...options }).callback();
      },
      [services.KoaApp, services.CreatePlant, services.TokenVerifier, services.Description],
    );
  });

/**
 * Creates a container with the parts and the plugins of the settings. Opens nothing before the first `getAsync`.
 * @param options.readOnly Whether plants are only read, so that opening the storage creates and changes nothing.
 * @param options.metrics Whether there are metrics. @default whether there is a management listener
 * @throws {InvalidConfig} A plugin cannot be loaded, or fails.
 */
export async function createContainer(
  config: Config,
  { readOnly = false, metrics = config.managementPort !== 'off' } = {},
): Promise<ServiceContainer> {
  const container = new ServiceContainer(config.shutdownTimeoutMs);
  container.load(parts(container, config, readOnly, metrics));
  for (const plugin of config.plugins) await installPlugin(plugin, container, config);
  return container;
}
