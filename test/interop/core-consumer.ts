/** A program that embeds the entry points that need no types of Node. packages.test.ts compiles it; it never runs. */

import { JsonPlantCodec } from '@plant-store/adapters/api';
import { BatchingPlantWriter } from '@plant-store/adapters/batching';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { MeasuredPlantWriter } from '@plant-store/adapters/metrics';
import { exportPlants, importPlants } from '@plant-store/adapters/ndjson';
import { StaticTokenVerifier } from '@plant-store/adapters/static-token';
import { plantRepositoryContract } from '@plant-store/contract';
import {
  type AddOutcome,
  CreatePlant,
  CreatePlants,
  type CreatePlantUseCase,
  FindPlant,
  type NewPlant,
  Plant,
  type PlantId,
  type PlantRepository,
  type Principal,
  ReadPlants,
  StorageUnavailable,
} from '@plant-store/core';
import { Registry } from 'prom-client';

class Garden implements PlantRepository {
  async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    return plants.map((stored) => ({ kind: 'conflict', stored }));
  }

  async find(): Promise<undefined> {}

  async read(): Promise<Plant[]> {
    return [];
  }
}

declare const tag: string | undefined;
export const newPlants: readonly NewPlant[] = [
  { id: 1n, name: 'Monstera' },
  { id: 2n, name: 'Ficus', tag },
];
export const principal: Principal = { subject: 'ali', issuer: tag };
export const createPlants = new CreatePlants(new BatchingPlantWriter(new Garden()));
export const measured = new MeasuredPlantWriter(new Garden(), new Registry());
export const tokenVerifier = new StaticTokenVerifier([{ name: 'ali', token: 'secret-token' }]);
export const ndjson = { exportPlants, importPlants };
export const createPlant: CreatePlantUseCase = new CreatePlant(new MemoryPlantRepository());
export const guarded: CreatePlantUseCase<'forbidden'> = {
  execute: async (newPlant, client) =>
    client?.subject === 'ali' ? createPlant.execute(newPlant, client) : 'forbidden',
};
export const plant: Plant | undefined = await new FindPlant(new Garden()).execute(1n);
export const readPage = async (after?: PlantId): Promise<readonly Plant[]> => {
  const { value = [] } = await new ReadPlants(new Garden()).execute(after, 10).next();
  return value;
};
export const { cases } = plantRepositoryContract({ open: async () => new MemoryPlantRepository() });

const result = Plant.from({ id: 3n, name: 'Aloe', tag });
if (result.kind === 'invalid') throw new StorageUnavailable(result.violations.join(), { cause: result });
export const again: NewPlant = result.plant;
export const json: string = new JsonPlantCodec().encodeNewPlant(result.plant);
