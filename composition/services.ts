import type { ServiceIdentifier } from 'inversify';
import type { Logger } from 'pino';
import type { Metrics } from '../adapters/driven/metrics/index.js';
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
import type { OpenStorage, Storage } from './storages.js';

const identifier = <T>(name: string): ServiceIdentifier<T> => Symbol.for(`plant-store:${name}`);

/** The identifiers of all bindings. Rebind one to replace that part of the service. */
export const services = {
  /** The parsed settings. */
  Config: identifier<Config>('Config'),
  /** The log on standard error. */
  Logger: identifier<Logger>('Logger'),
  /** The metrics, or `undefined` if the management listener is off. */
  Metrics: identifier<Metrics | undefined>('Metrics'),
  /** Opens a storage; bound by name for each scheme of `DATABASE_URL`, such as `sqlite`. */
  OpenStorage: identifier<OpenStorage>('OpenStorage'),
  /** The storage of `DATABASE_URL`; the program that runs the service calls `ready` and `close`. */
  Storage: identifier<Storage>('Storage'),
  /** What use cases call: the storage with metrics, group commit and a time limit. */
  PlantRepository: identifier<PlantRepository>('PlantRepository'),
  /** Authenticates clients. The default accepts the tokens of the settings and the JWTs of an issuer. */
  TokenVerifier: identifier<TokenVerifier & { randomToken?: string | undefined; reload?(): unknown }>('TokenVerifier'),
  CreatePlant: identifier<CreatePlantUseCase & CreatePlantsUseCase>('CreatePlant'),
  ReadPlants: identifier<ReadPlantsUseCase>('ReadPlants'),
  /** The parsed `openapi.yaml`. */
  OpenApiDescription: identifier<OpenApiDescription>('OpenApiDescription'),
  /** Decodes and encodes the JSON of plants. */
  PlantCodec: identifier<PlantCodec>('PlantCodec'),
  /** The public listener. */
  HttpServer: identifier<HttpServer>('HttpServer'),
  /** The management listener, or `undefined` if it is off. */
  ManagementServer: identifier<ManagementServer | undefined>('ManagementServer'),
} as const;
