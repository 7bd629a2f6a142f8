export { exportPlants } from './export-plants.js';
export { type ImportOptions, type ImportResult, importPlants } from './import-plants.js';
