// Measures CreatePlant on the memory repository in a separate process, with its own heap. Argument: number of plants.
// Prints plants per second as one line of JSON.
import { performance } from 'node:perf_hooks';
import { MemoryPlantRepository } from '../../../adapters/memory/index.js';
import { CreatePlant, type CreatePlantOutcome, type NewPlant } from '../../../core/index.js';

const count = Number(process.argv[2]);
const BATCH_PLANTS = 1000;

/** Returns the plants per second of `work`, which creates `plants` plants with the ids 1 to `plants`. */
async function measureRate(plants: number, work: (createPlant: CreatePlant) => Promise<void>): Promise<number> {
  const createPlant = new CreatePlant(new MemoryPlantRepository());
  const beganMs = performance.now();
  await work(createPlant);
  return (plants * 1000) / (performance.now() - beganMs);
}

function oneByOne(plants: number): Promise<number> {
  return measureRate(plants, async (createPlant) => {
    for (let id = 1; id <= plants; id++) assertCreated(await createPlant.execute(plant(id)));
  });
}

function inBatches(plants: number): Promise<number> {
  return measureRate(plants, async (createPlant) => {
    for (let from = 1; from <= plants; from += BATCH_PLANTS) {
      const batch = Array.from({ length: Math.min(BATCH_PLANTS, plants - from + 1) }, (_, index) =>
        plant(from + index),
      );
      for (const outcome of await createPlant.executeAll(batch)) assertCreated(outcome);
    }
  });
}

function plant(id: number): NewPlant {
  return { id: BigInt(id), name: `Monstera ${id}`, tag: 'indoor' };
}

function assertCreated({ kind }: CreatePlantOutcome): void {
  if (kind !== 'created') throw new Error(`a plant was not created: ${kind}`);
}

const WARM_UP_PLANTS = 50_000;
await oneByOne(WARM_UP_PLANTS);
await inBatches(WARM_UP_PLANTS);
process.stdout.write(`${JSON.stringify({ execute: await oneByOne(count), executeAll: await inBatches(count) })}\n`);
