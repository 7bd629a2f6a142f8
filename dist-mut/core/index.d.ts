export { CreatePlant, type CreatePlantOutcome } from './create-plant.js';
export { PlantRefused, PlantStoreError, StorageUnavailable, TokenIssuerUnavailable } from './errors.js';
export { isPlantId, type NewPlant, PLANT_ID_MAX, PLANT_ID_MESSAGE, PLANT_ID_MIN, Plant, type PlantId, type Violation, } from './plant.js';
export type { AddOutcome, PlantRepository } from './plant-repository.js';
export { ReadPlants } from './read-plants.js';
export type { Principal, TokenVerifier } from './token-verifier.js';
//# sourceMappingURL=index.d.ts.map