/** A program that embeds the entry points that need no types of Node. packages.test.ts compiles it; it never runs. */

import { JsonPlantCodec } from '@plant-store/adapters/api';
import { BatchingPlantRepository } from '@plant-store/adapters/batching';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { createMetrics, MeasuredPlantRepository } from '@plant-store/adapters/metrics';
import { exportPlants, importPlants } from '@plant-store/adapters/ndjson';
import { StaticTokenVerifier } from '@plant-store/adapters/static-token';
import { plantRepositoryContract } from '@plant-store/contract';
import {
  type AddOutcome,
  CreatePlant,
  CreatePlants,
  type CreatePlantUseCase,
  type NewPlant,
  Plant,
  type PlantRepository,
  type Principal,
  StorageUnavailable,
} from '@plant-store/core';

class Garden implements PlantRepository {
  async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    return plants.map((stored) => ({ kind: 'conflict', stored }));
  }

  async *readAll(): AsyncGenerator<readonly Plant[]> {}
}

declare const tag: string | undefined;
export const newPlants: readonly NewPlant[] = [
  { id: 1n, name: 'Monstera' },
  { id: 2n, name: 'Ficus', tag },
];
export const principal: Principal = { subject: 'ali', issuer: tag };
export const createPlants = new CreatePlants(new BatchingPlantRepository(new Garden()));
export const measured = new MeasuredPlantRepository(new Garden(), await createMetrics('1.0.0'));
export const tokenVerifier = new StaticTokenVerifier(['ali=secret-token']);
export const ndjson = { exportPlants, importPlants };
export const createPlant: CreatePlantUseCase = new CreatePlant(new MemoryPlantRepository());
export const { cases } = plantRepositoryContract({ open: async () => new MemoryPlantRepository() });

const result = Plant.from({ id: 3n, name: 'Aloe', tag });
if (result.kind === 'invalid') throw new StorageUnavailable(result.violations.join(), { cause: result });
export const again: NewPlant = result.plant;
export const json: string = new JsonPlantCodec().encodeNewPlant(result.plant);
