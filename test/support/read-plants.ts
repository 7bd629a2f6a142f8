import type { Plant, PlantRepository } from '../../core/index.js';

/** Reads all batches of {@link PlantRepository.readAll} into one array. */
export async function readPlants(batches: ReturnType<PlantRepository['readAll']>): Promise<Plant[]> {
  const plants: Plant[] = [];
  for await (const batch of batches) plants.push(...batch);
  return plants;
}
