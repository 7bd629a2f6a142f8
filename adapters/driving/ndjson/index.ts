export { exportPlants } from './export-plants.js';
export { type ImportOptions, type ImportSummary, importPlants } from './import-plants.js';
