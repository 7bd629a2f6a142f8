export { CreatePlant } from './create-plant.js';
export { PlantRefused, PlantStoreError, StorageUnavailable, TokenIssuerUnavailable } from './errors.js';
export { isPlantId, PLANT_ID_MAX, PLANT_ID_MESSAGE, PLANT_ID_MIN, Plant, } from './plant.js';
export { ReadPlants } from './read-plants.js';
//# sourceMappingURL=index.js.map