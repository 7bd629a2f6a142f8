import type { ReadPlants } from '../../core/index.js';
import type { PlantCodec } from '../wire/index.js';

/** The whole store as NDJSON of NewPlant objects, ascending by id, in pieces of many lines. */
export async function* exportPlants(
  readPlants: ReadPlants,
  codec: PlantCodec,
  onProgress?: (plants: number) => void,
): AsyncGenerator<string> {
  let plants = 0;
  for await (const page of readPlants.execute()) {
    yield page.map((plant) => `${codec.encodeNewPlant(plant)}\n`).join('');
    plants += page.length;
    onProgress?.(plants);
  }
}
