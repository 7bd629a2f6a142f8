export { CreatePlant } from './create-plant.js';
export {
  isPlantStoreError,
  PlantRejected,
  PlantStoreError,
  type PlantStoreErrorCode,
  StorageUnavailable,
  TokenIssuerUnavailable,
} from './errors.js';
export {
  isPlantId,
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  type NewPlant,
  OPTIONAL_TEXTS,
  type OptionalText,
  PLANT_ID_RANGE_MESSAGE,
  Plant,
  type PlantId,
  type PlantResult,
  type RawTexts,
  TEXT_FIELDS,
  type TextField,
  toNewPlant,
  type Violation,
} from './plant.js';
export { type AddOutcome, type PlantRepository, PlantRepositoryDecorator } from './ports/driven/plant-repository.js';
export type { Principal, TokenVerifier } from './ports/driven/token-verifier.js';
export type {
  CreatePlantOutcome,
  CreatePlantsUseCase,
  CreatePlantUseCase,
} from './ports/driving/create-plant-use-case.js';
export type { ReadPlantsUseCase } from './ports/driving/read-plants-use-case.js';
export { ReadPlants } from './read-plants.js';
