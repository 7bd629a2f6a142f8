export { exportPlants } from './export-plants.js';
export { importPlants, type ImportOptions, type ImportSummary, type RejectedLine } from './import-plants.js';
