import type { ServiceIdentifier } from 'inversify';
import type { Logger } from 'pino';
import type { OpenApiDescription, PlantCodec } from '../adapters/api/index.js';
import type { Database } from '../adapters/knex/index.js';
import type { HttpServer } from '../adapters/koa/index.js';
import type { ManagementServer } from '../adapters/management/index.js';
import type { Metrics } from '../adapters/metrics/index.js';
import type { StaticTokenVerifier } from '../adapters/static-token/index.js';
import type { CreatePlant, PlantRepository, ReadPlants, TokenVerifier } from '../core/index.js';
import type { Config } from './config.js';

/** The identifiers of all bindings. Rebind one to replace that part of the service. */
export const services = {
  /** The parsed settings: {@link Config}. */
  Config: identifier<Config>('Config'),
  /** The log on standard error: a pino `Logger`. */
  Logger: identifier<Logger>('Logger'),
  /** The SQL database of `DATABASE_URL`, not yet opened: {@link Database}, or `undefined` for `memory:`. */
  Database: identifier<Database | undefined>('Database'),
  /** The bare storage: a {@link PlantRepository}. By default, opens the database. */
  Storage: identifier<PlantRepository>('Storage'),
  /** The storage with metrics and group commit around it, for the use cases: a {@link PlantRepository}. */
  PlantRepository: identifier<PlantRepository>('PlantRepository'),
  /** Authenticates clients: a {@link TokenVerifier}. By default, accepts the static tokens and the issuer's JWTs. */
  TokenVerifier: identifier<TokenVerifier>('TokenVerifier'),
  /** The tokens of the settings, without JWTs: a {@link StaticTokenVerifier}. */
  StaticTokens: identifier<StaticTokenVerifier>('StaticTokens'),
  /** The use case {@link CreatePlant}. */
  CreatePlant: identifier<CreatePlant>('CreatePlant'),
  /** The use case {@link ReadPlants}. */
  ReadPlants: identifier<ReadPlants>('ReadPlants'),
  /** Decodes and encodes the JSON of plants: a {@link PlantCodec}. */
  PlantCodec: identifier<PlantCodec>('PlantCodec'),
  /** The parsed `openapi.yaml`: an {@link OpenApiDescription}. */
  OpenApiDescription: identifier<OpenApiDescription>('OpenApiDescription'),
  /** The public listener: an {@link HttpServer}. */
  HttpServer: identifier<HttpServer>('HttpServer'),
  /** The metrics of the service: {@link Metrics}, or `undefined` if the management listener is off. */
  Metrics: identifier<Metrics | undefined>('Metrics'),
  /** The management listener: a {@link ManagementServer}, or `undefined` if it is off. */
  ManagementServer: identifier<ManagementServer | undefined>('ManagementServer'),
} as const;

function identifier<T>(name: string): ServiceIdentifier<T> {
  return Symbol.for(`plant-store:${name}`);
}
