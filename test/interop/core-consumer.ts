/** A program that embeds the entry points that need no types of Node. packages.test.ts compiles it; it never runs. */

import { JsonPlantCodec } from '@plant-store/adapters/api';
import { BatchingPlantWriter } from '@plant-store/adapters/batching';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { MeasuredPlantWriter } from '@plant-store/adapters/metrics';
import { exportPlants, importPlants } from '@plant-store/adapters/ndjson';
import { StaticTokenVerifier } from '@plant-store/adapters/static-token';
import { plantRepositoryContract } from '@plant-store/contract';
import * as core from '@plant-store/core';
import { Registry } from 'prom-client';

class Garden implements core.PlantRepository {
  async add(plants: readonly core.Plant[]): Promise<core.AddOutcome[]> {
    return plants.map((stored) => ({ kind: 'conflict', stored }));
  }

  async find(): Promise<undefined> {}

  async read(): Promise<core.Plant[]> {
    return [];
  }
}

declare const tag: string | undefined;
const createPlant: core.CreatePlantUseCase = new core.CreatePlant(new MemoryPlantRepository());
export const guarded: core.CreatePlantUseCase<'forbidden'> = {
  execute: async (newPlant, client) =>
    client?.subject === 'ali' ? createPlant.execute(newPlant, client) : 'forbidden',
};
export const outcomes = new core.CreatePlants(new BatchingPlantWriter(new Garden())).execute([
  { id: 1n, name: 'Fern', tag },
]);
export const measured = new MeasuredPlantWriter(new Garden(), new Registry());
export const tokenVerifier = new StaticTokenVerifier([{ name: 'ali', token: 'secret-token' }]);
export const ndjson = { exportPlants, importPlants };
export const plant: core.Plant | undefined = await new core.FindPlant(new Garden()).execute(1n);
export const page: readonly core.Plant[] | undefined = (await new core.ReadPlants(new Garden()).execute(1n).next())
  .value;
export const { cases } = plantRepositoryContract({ open: async () => new MemoryPlantRepository() });

const result = core.Plant.from({ id: 3n, name: 'Aloe', tag });
if (result.kind === 'invalid') throw new core.StorageUnavailable(result.violations.join(), { cause: result });
export const json: string = new JsonPlantCodec().encodeNewPlant(result.plant);
