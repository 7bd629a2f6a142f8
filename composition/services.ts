import type { RequestListener } from 'node:http';
import type { LogOptions } from '@plant-store/adapters/api';
import type { RequestState, RouteOptions } from '@plant-store/adapters/koa';
import type { ReadinessCheck } from '@plant-store/adapters/management';
import type { Metrics } from '@plant-store/adapters/metrics';
import type { PlantRepository, TokenVerifier } from '@plant-store/core';
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

  // Driven adapters.
  /** Unbound if `MANAGEMENT_PORT` is `off`. */
  Metrics: identifier<Metrics>('Metrics'),
  /** Where the log goes. The default is standard error. */
  LogDestination: identifier<LogDestination>('LogDestination'),
  Logger: identifier<Logger>('Logger'),
  /** The tokens of the settings, which `serve` reads again on SIGHUP. */
  AccessTokens: identifier<AccessTokens>('AccessTokens'),
  /** Authenticates clients. The default accepts the access tokens and the JWTs of an issuer. */
  TokenVerifier: identifier<TokenVerifier>('TokenVerifier'),
  /** Opens a storage. Bound under the name of each scheme of `DATABASE_URL`; `rebind` would remove all of them. */
  OpenStorage: identifier<OpenStorage>('OpenStorage'),
  /** To replace it, bind `OpenStorage`, because the service does not close what is bound here instead. */
  Storage: identifier<Storage>('Storage'),
  /** Gets the batches of group commit. The default is the storage. */
  BatchRepository: identifier<PlantRepository>('BatchRepository'),
  /** What use cases call: group commit. */
  PlantRepository: identifier<PlantRepository>('PlantRepository'),

  // The core.
  /** What HTTP calls to create a plant: the use case, or a function that returns one for the authenticated client. */
  HttpCreatePlant: identifier<RouteOptions['createPlant']>('HttpCreatePlant'),

  // Driving adapters.
  /** Called at the end of each request. The default counts and times it, if there are metrics. */
  ObserveRequest: identifier<LogOptions['observe']>('ObserveRequest'),
  /** The Koa app before it gets its routes. A plugin adds middlewares with `use`. */
  KoaApp: identifier<Koa<RequestState>>('KoaApp'),
  /** What the public listener calls. The default is the Koa app with its routes. */
  RequestListener: identifier<RequestListener>('RequestListener'),
  /** A check of `/readyz` beside that of the storage; may be bound several times. */
  ReadinessCheck: identifier<ReadinessCheck>('ReadinessCheck'),
} as const;
