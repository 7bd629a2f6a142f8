export { CreatePlant, type CreatePlantOutcome } from './create-plant.js';
export { PlantRejected, PlantStoreError, StorageUnavailable, TokenIssuerUnavailable } from './errors.js';
export {
  isPlantId,
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  type NewPlant,
  PLANT_ID_MESSAGE,
  Plant,
  type PlantId,
  type PlantResult,
  type Violation,
} from './plant.js';
export type { AddOutcome, PlantRepository } from './ports/plant-repository.js';
export type { Principal, TokenVerifier } from './ports/token-verifier.js';
export { ReadPlants } from './read-plants.js';
