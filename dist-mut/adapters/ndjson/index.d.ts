export { exportPlants } from './export-plants.js';
export { type ImportOptions, type ImportSummary, importPlants, type Reject } from './import-plants.js';
//# sourceMappingURL=index.d.ts.map