import type { ServiceIdentifier } from 'inversify';
import type { Logger } from 'pino';
import type { Metrics } from '../adapters/driven/metrics/index.js';
import type { StaticTokenVerifier } from '../adapters/driven/static-token/index.js';
import type { OpenApiDescription, PlantCodec } from '../adapters/driving/api/index.js';
import type { HttpServer } from '../adapters/driving/http/index.js';
import type { ManagementServer } from '../adapters/driving/management/index.js';
import type {
  CreatePlantsUseCase,
  CreatePlantUseCase,
  PlantRepository,
  ReadPlantsUseCase,
  TokenVerifier,
} from '../core/index.js';
import type { Config } from './config.js';
import type { OpenStorage, Storage } from './storage.js';

/** The identifiers of all bindings. Rebind one to replace that part of the service. */
export const services = {
  /** The parsed settings: {@link Config}. */
  Config: identifier<Config>('Config'),
  /** The log on standard error: a pino `Logger`. */
  Logger: identifier<Logger>('Logger'),
  /** Opens a storage: {@link OpenStorage}, bound by name for each scheme of `DATABASE_URL`, such as `sqlite`. */
  OpenStorage: identifier<OpenStorage>('OpenStorage'),
  /** The storage as it was opened, by default the one of `DATABASE_URL`: a {@link Storage}. */
  Storage: identifier<Storage>('Storage'),
  /** `Storage` with metrics and group commit, reduced to what use cases call: a {@link PlantRepository}. */
  PlantRepository: identifier<PlantRepository>('PlantRepository'),
  /** Authenticates clients: a {@link TokenVerifier}. By default, accepts the static tokens and the issuer's JWTs. */
  TokenVerifier: identifier<TokenVerifier>('TokenVerifier'),
  /** The tokens of the settings, without JWTs: a {@link StaticTokenVerifier}. */
  StaticTokens: identifier<StaticTokenVerifier>('StaticTokens'),
  /** Creates one plant, or many: a {@link CreatePlantUseCase} and {@link CreatePlantsUseCase}. */
  CreatePlant: identifier<CreatePlantUseCase & CreatePlantsUseCase>('CreatePlant'),
  /** Reads every plant: a {@link ReadPlantsUseCase}. */
  ReadPlants: identifier<ReadPlantsUseCase>('ReadPlants'),
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
