import type { ReadPlants } from '../../core/index.js';
import type { PlantCodec } from '../wire/index.js';
/** The whole store as NDJSON of NewPlant objects, ascending by id, in pieces of many lines. */
export declare function exportPlants(readPlants: ReadPlants, codec: PlantCodec, onProgress?: (plants: number) => void): AsyncGenerator<string>;
//# sourceMappingURL=export-plants.d.ts.map