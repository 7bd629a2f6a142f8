export { exportPlants } from './export-plants.js';
export { importPlants } from './import-plants.js';
