import type { RequestListener } from 'node:http';
import type { HttpServer, Load, LogOptions, RequestState, RouteOptions } from '@plant-store/adapters/koa';
import type { ReadinessCheck } from '@plant-store/adapters/management';
import type { Metrics } from '@plant-store/adapters/metrics';
import type {
  CreatePlantsUseCase,
  CreatePlantUseCase,
  PlantRepository,
  ReadPlantsUseCase,
  TokenVerifier,
} from '@plant-store/core';
import type { ServiceIdentifier } from 'inversify';
import type Koa from 'koa';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import type { LogDestination } from './logger.js';
import type { OpenStorage, Storage } from './storages.js';
import type { AccessTokens } from './tokens.js';

const identifier = <T>(name: string): ServiceIdentifier<T> => Symbol.for(`plant-store:${name}`);

/** The identifiers of all bindings. Rebind one to replace that part of the service, or wrap it with `onActivation`. */
export const services = {
  Config: identifier<Config>('Config'),

  // The core.
  /** Creates a plant; what HTTP calls, unless a plugin rebinds `HttpCreatePlant`. */
  CreatePlant: identifier<CreatePlantUseCase>('CreatePlant'),
  /** Creates many plants; what `import` calls. */
  CreatePlants: identifier<CreatePlantsUseCase>('CreatePlants'),
  ReadPlants: identifier<ReadPlantsUseCase>('ReadPlants'),

  // Driven adapters, from the storage to the use cases.
  /** Opens a storage; bound by name for each scheme of `DATABASE_URL`, such as `sqlite`. */
  OpenStorage: identifier<OpenStorage>('OpenStorage'),
  /** Whether the storage will only be read. If so, opening it creates and changes nothing. */
  ReadOnly: identifier<boolean>('ReadOnly'),
  Storage: identifier<Storage>('Storage'),
  /** What group commit calls with batches: the storage, measured. */
  BatchRepository: identifier<PlantRepository>('BatchRepository'),
  GroupCommit: identifier<PlantRepository & { drain(): Promise<void> }>('GroupCommit'),
  /** What use cases call: group commit. */
  PlantRepository: identifier<PlantRepository>('PlantRepository'),
  /** The tokens of the settings, which `serve` reads again on SIGHUP. */
  AccessTokens: identifier<AccessTokens>('AccessTokens'),
  /** Authenticates clients. The default accepts the access tokens and the JWTs of an issuer. */
  TokenVerifier: identifier<TokenVerifier>('TokenVerifier'),
  /** Where the log goes. The default is standard error. */
  LogDestination: identifier<LogDestination>('LogDestination'),
  Logger: identifier<Logger>('Logger'),

  // Driving adapters.
  /** What HTTP calls to create a plant: `CreatePlant`, or a function that returns one for the authenticated client. */
  HttpCreatePlant: identifier<RouteOptions['createPlant']>('HttpCreatePlant'),
  /** The Koa app before it gets its routes. A plugin adds middlewares with `use`. */
  KoaApp: identifier<Koa<RequestState>>('KoaApp'),
  /** Counts the creates in flight. */
  Load: identifier<Load>('Load'),
  /** Called at the end of each request, if there are metrics. */
  ObserveRequest: identifier<LogOptions['observe']>('ObserveRequest'),
  /** The framework. The default is the Koa app with its routes. */
  RequestListener: identifier<RequestListener>('RequestListener'),
  /** The public listener, with limits and graceful shutdown. */
  HttpServer: identifier<Pick<HttpServer, 'isStopping' | 'listen' | 'stop' | 'closeAllConnections'>>('HttpServer'),

  // The management listener; unbound if `MANAGEMENT_PORT` is `off`.
  Metrics: identifier<Metrics>('Metrics'),
  /** A check of `/readyz`; may be bound several times. */
  ReadinessCheck: identifier<ReadinessCheck>('ReadinessCheck'),
  ManagementServer: identifier<Pick<HttpServer, 'listen' | 'stop'>>('ManagementServer'),
} as const;
