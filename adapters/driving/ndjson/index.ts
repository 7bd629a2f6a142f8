export { exportPlants } from './export-plants.js';
export { type ImportOptions, type ImportSummary, importPlants, type RejectedLine } from './import-plants.js';
