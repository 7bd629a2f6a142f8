import type { RequestListener } from 'node:http';
import type { Declined, LogOptions, OpenApiDescription } from '@plant-store/adapters/api';
import type { ClientRoutes, RequestState } from '@plant-store/adapters/koa';
import type { ReadinessCheck } from '@plant-store/adapters/management';
import type { CreatePlantUseCase, PlantWriter, TokenVerifier } from '@plant-store/core';
import type { ServiceIdentifier } from 'inversify';
import type Koa from 'koa';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { LogDestination } from './logger.js';
import type { OpenStorage, Storage } from './storages.js';
import type { AccessTokens } from './tokens.js';

const identifier = <T>(name: string): ServiceIdentifier<T> => Symbol.for(`plant-store:${name}`);

const identifiers = {
  // Driven adapters.
  /** The registry of the metrics. Unbound if `MANAGEMENT_PORT` is `off`, and for other commands than `serve`. */
  Metrics: identifier<Registry>('Metrics'),
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
  /** Writes the batches of group commit: the storage, with metrics if there are any. */
  BatchWriter: identifier<PlantWriter>('BatchWriter'),
  /** What creates call: group commit. Reads call the storage. */
  PlantWriter: identifier<PlantWriter>('PlantWriter'),

  // The core.
  /** What HTTP calls: the use case, or a decorator of it. */
  CreatePlant: identifier<CreatePlantUseCase<Declined>>('CreatePlant'),

  // Driving adapters.
  /** Describes the HTTP API, and validates plants. A copy of the exported one, which may be changed. */
  Description: identifier<OpenApiDescription>('Description'),
  /** Called at the end of each request. The default counts and times it, if there are metrics. */
  ObserveRequest: identifier<LogOptions['observe']>('ObserveRequest'),
  /** The Koa app before it gets its routes. A plugin adds middlewares with `use`. */
  KoaApp: identifier<Koa<RequestState>>('KoaApp'),
  /** Add routes for authenticated clients to the app; may be bound several times. */
  ClientRoutes: identifier<ClientRoutes>('ClientRoutes'),
  /** What the public listener calls. The default is the Koa app with its routes. */
  RequestListener: identifier<RequestListener>('RequestListener'),
  /** A check of `/readyz` beside that of the storage; may be bound several times. */
  ReadinessCheck: identifier<ReadinessCheck>('ReadinessCheck'),
} as const;

/** The identifiers of all bindings. Rebind one to replace that part of the service, or wrap it with `onActivation`. */
export const services: typeof identifiers = new Proxy(identifiers, {
  // A plugin with a mistyped name would change nothing, and a check of permissions would be missing.
  get(target, name) {
    if (typeof name === 'string' && !(name in target)) throw new TypeError(`there is no service ${name}`);
    return Reflect.get(target, name);
  },
});
