import type { ReadPlantsUseCase } from '../../../core/index.js';
import type { PlantCodec } from '../api/index.js';

/**
 * Exports every plant as NDJSON of NewPlant objects, ordered by id, in chunks of many lines.
 * @param onProgress Called after each chunk, with the number of plants so far.
 */
export async function* exportPlants(
  readPlants: ReadPlantsUseCase,
  codec: PlantCodec,
  onProgress?: (plants: number) => void,
): AsyncGenerator<string> {
  let plants = 0;
  for await (const batch of readPlants.execute()) {
    yield batch.map((plant) => `${codec.encodeNewPlant(plant)}\n`).join('');
    plants += batch.length;
    onProgress?.(plants);
  }
}
