import 'reflect-metadata';
import { existsSync, readFileSync } from 'node:fs';
import { Container, ContainerModule, type ResolutionContext } from 'inversify';
import { BatchingPlantRepository } from '../adapters/driven/batching/index.js';
import { openApiDescription, PlantCodec } from '../adapters/driving/api/index.js';
import { CreatePlant, ReadPlants } from '../core/index.js';
import { createAccessTokens } from './access-tokens.js';
import { type Config, InvalidConfig, version } from './config.js';
import { createLogger } from './logger.js';
import { services } from './services.js';
import { type Storage, storages } from './storages.js';

/** Binds every service but `Config`. Imports dynamically what only `serve` needs, so that other commands start faster. */
export const plantStoreModule: ContainerModule = new ContainerModule(({ bind }) => {
  bind(services.Metrics)
    .toResolvedValue(
      async ({ managementPort }) => {
        if (managementPort === 'off') return undefined;
        const { Metrics } = await import('../adapters/driven/metrics/index.js');
        return new Metrics(version);
      },
      [services.Config],
    )
    .inSingletonScope();
  bind(services.Logger)
    .toResolvedValue(
      ({ logLevel }, metrics) =>
        createLogger(logLevel, metrics?.counter('log_lines_dropped_total', 'Log lines dropped for lack of space.')),
      [services.Config, services.Metrics],
    )
    .inSingletonScope();

  // Driven adapters.
  for (const [scheme, open] of Object.entries(storages))
    bind(services.OpenStorage).toConstantValue(open).whenNamed(scheme);
  bind(services.Storage).toDynamicValue(openStorage).inSingletonScope();
  bind(services.PlantRepository)
    .toResolvedValue(
      (storage, metrics, { storageTimeoutMs: timeoutMs }) =>
        new BatchingPlantRepository(metrics?.measure(storage) ?? storage, { maxWrites: storage.maxWrites, timeoutMs }),
      [services.Storage, services.Metrics, services.Config],
    )
    .inSingletonScope();
  bind(services.TokenVerifier)
    .toResolvedValue(
      async (config) => {
        const tokens = await createAccessTokens(config);
        const { jwtIssuer: issuer, jwtAudience: audience, jwtJwksUrl: jwksUrl } = config;
        if (!issuer || !audience || !jwksUrl) return tokens;
        const { JwtVerifier } = await import('../adapters/driven/jwt/index.js');
        const jwts = new JwtVerifier({ issuer, audience, jwksUrl });
        const verify = async (token: string) => {
          const verification = await tokens.verify(token);
          return verification.kind === 'valid' ? verification : jwts.verify(token);
        };
        return { verify, reload: tokens.reload };
      },
      [services.Config],
    )
    .inSingletonScope();

  // The core.
  bind(services.CreatePlant)
    .toResolvedValue((repository) => new CreatePlant(repository), [services.PlantRepository])
    .inSingletonScope();
  bind(services.ReadPlants)
    .toResolvedValue((repository) => new ReadPlants(repository), [services.PlantRepository])
    .inSingletonScope();

  // Driving adapters.
  bind(services.OpenApiDescription).toConstantValue(openApiDescription);
  bind(services.PlantCodec)
    .toResolvedValue((description) => new PlantCodec(description), [services.OpenApiDescription])
    .inSingletonScope();
  bind(services.HttpServer)
    .toResolvedValue(
      async (config, createPlant, tokenVerifier, codec, description, log, metrics) => {
        const { AdmissionControl } = await import('../adapters/driving/http/index.js');
        const { createKoaServer } = await import('../adapters/driving/koa/index.js');
        const admission = new AdmissionControl(config);
        metrics?.gauge('creates_in_flight', 'Creates in flight.', () => admission.inFlight);
        const help = 'Bytes reserved for the bodies of creates in flight.';
        metrics?.gauge('creates_in_flight_bytes', help, () => admission.inFlightBytes);
        const options = { createPlant, tokenVerifier, codec, description, admission, log };
        const maxConnections = readMaxConnections();
        return createKoaServer({ ...config, ...options, onRequestEnd: metrics?.requests(), maxConnections });
      },
      [
        services.Config,
        services.CreatePlant,
        services.TokenVerifier,
        services.PlantCodec,
        services.OpenApiDescription,
        services.Logger,
        services.Metrics,
      ],
    )
    .inSingletonScope();
  bind(services.ManagementServer)
    .toResolvedValue(
      async (storage, metrics, server) => {
        if (metrics === undefined) return undefined;
        const { ManagementServer } = await import('../adapters/driving/management/index.js');
        return new ManagementServer({ storage, metrics, isStopping: () => server.isStopping });
      },
      [services.Storage, services.Metrics, services.HttpServer],
    )
    .inSingletonScope();
});

/** Creates a container with the whole service. Get its parts with `getAsync`. Nothing opens before the first call. */
export function createContainer(config: Config): Container {
  const container = new Container();
  container.bind(services.Config).toConstantValue(config);
  container.load(plantStoreModule);
  return container;
}

/** Opens the storage that the scheme of `DATABASE_URL` selects. */
async function openStorage(context: ResolutionContext): Promise<Storage> {
  const config = await context.getAsync(services.Config);
  const { database: url, storageTimeoutMs: timeoutMs, readOnly = false } = config;
  const [scheme = ''] = /^[a-z][a-z\d+.-]*(?=:)/.exec(url) ?? [];
  const open = await context.getAsync(services.OpenStorage, { name: scheme, optional: true });
  if (open === undefined)
    throw new InvalidConfig(
      'DATABASE_URL: must be sqlite:PATH, postgres://…, mysql://…, memory: or have a scheme that one of PLUGINS adds',
    );
  return open({ url, timeoutMs, readOnly });
}

/** Returns the maximum number of client connections: each is an open file, and 128 files are for everything else. */
function readMaxConnections(): number {
  const limits = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'utf8') : '';
  const files = /^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY;
  return Math.max(1, Number(files) - 128);
}
