/** A program that embeds the entry points that need no types of Node. packages.test.ts compiles it; it never runs. */

export * as api from '@plant-store/adapters/api';
export * as batching from '@plant-store/adapters/batching';
export * as memory from '@plant-store/adapters/memory';
export * as metrics from '@plant-store/adapters/metrics';
export * as ndjson from '@plant-store/adapters/ndjson';
export * as staticToken from '@plant-store/adapters/static-token';
export * as contract from '@plant-store/contract';

import type { Plant, PlantRepository } from '@plant-store/core';

export class Garden implements PlantRepository {
  async add(plants: readonly Plant[]) {
    return plants.map((stored) => ({ kind: 'conflict', stored }) as const);
  }

  async find(): Promise<undefined> {}

  async read(): Promise<Plant[]> {
    return [];
  }
}
