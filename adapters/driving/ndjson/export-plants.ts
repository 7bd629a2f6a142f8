import type { ReadPlantsUseCase } from '@plant-store/core';
import type { JsonPlantCodec } from '../api/index.js';

/** Exports every plant as NDJSON of NewPlant objects, ordered by id, in strings of many lines. */
export async function* exportPlants(readPlants: ReadPlantsUseCase, codec: JsonPlantCodec): AsyncGenerator<string> {
  for await (const plants of readPlants.execute())
    yield plants.map((plant) => `${codec.encodeNewPlant(plant)}\n`).join('');
}
