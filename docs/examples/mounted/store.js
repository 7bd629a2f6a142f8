import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { StaticTokenVerifier } from '@plant-store/adapters/static-token';
import { CreatePlant } from '@plant-store/core';

/** What the apps in this folder use. For durable plants, use a SQL repository in group commit. */
export const createPlant = new CreatePlant(new MemoryPlantRepository());
export const tokenVerifier = new StaticTokenVerifier([{ name: 'gardener', token: process.env.ACCESS_TOKENS }]);
