import type { AddOutcome, Plant, PlantRepository } from '@plant-store/core';

/** Returns given outcomes and plants, and records what it adds. */
export function stubRepository(outcomes: readonly AddOutcome[], plants: readonly Plant[] = []) {
  const batches: (readonly Plant[])[] = [];
  const repository: PlantRepository = {
    add: async (batch) => {
      batches.push(batch);
      return outcomes;
    },
    find: async (id) => plants.find((plant) => plant.id === id),
    read: async (from, limit) => plants.filter(({ id }) => id >= from).slice(0, limit),
  };
  return { ...repository, batches };
}
