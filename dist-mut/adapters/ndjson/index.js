export { exportPlants } from './export-plants.js';
export { importPlants } from './import-plants.js';
//# sourceMappingURL=index.js.map