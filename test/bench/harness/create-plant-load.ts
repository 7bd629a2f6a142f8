// Measures CreatePlant on the memory repository in a process, and so a heap, of its own. Argument: `execute` or
// `executeAll`. Prints plants per second.
import { performance } from 'node:perf_hooks';
import { MemoryPlantRepository } from '../../../adapters/driven/memory/index.js';
import { CreatePlant, type CreatePlantOutcome } from '../../../core/index.js';

const [WARM_UP_PLANTS, PLANTS, BATCH_PLANTS] = [50_000, 1_000_000, 1000];

const plant = (id: number) => ({ id: BigInt(id), name: `Monstera ${id}`, tag: 'indoor' });

function assertCreated({ kind }: CreatePlantOutcome): void {
  if (kind !== 'created') throw new Error(`a plant was not created: ${kind}`);
}

async function execute(createPlant: CreatePlant, count: number): Promise<void> {
  for (let id = 1; id <= count; id++) assertCreated(await createPlant.execute(plant(id)));
}

async function executeAll(createPlant: CreatePlant, count: number): Promise<void> {
  for (let from = 1; from <= count; from += BATCH_PLANTS) {
    const batch = Array.from({ length: Math.min(BATCH_PLANTS, count - from + 1) }, (_, index) => plant(from + index));
    for (const outcome of await createPlant.executeAll(batch)) assertCreated(outcome);
  }
}

const work = process.argv[2] === 'execute' ? execute : executeAll;
await work(new CreatePlant(new MemoryPlantRepository()), WARM_UP_PLANTS);
const createPlant = new CreatePlant(new MemoryPlantRepository());
const beganMs = performance.now();
await work(createPlant, PLANTS);
process.stdout.write(`${(PLANTS * 1000) / (performance.now() - beganMs)}\n`);
