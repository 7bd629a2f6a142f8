import { createInterface } from 'node:readline';
import { BatchingPlantRepository } from 'plant-store/adapters/batching';
import { openRepository, sqliteDatabase } from 'plant-store/adapters/knex';
import { CreatePlant, StorageUnavailable } from 'plant-store/core';

/** The most jobs that are worked on at once; the queue keeps the others. */
const JOBS_MAX = 1000;

const engine = await openRepository(sqliteDatabase({ path: 'plants.db', timeoutMs: 10_000 }));
const plants = new BatchingPlantRepository(engine);
const createPlant = new CreatePlant(plants);

/** A job, with its plant where it has one. The id is text: as a number, JSON.parse would round it beyond 2^53. */
function jobOf(line) {
  try {
    const { job, plant } = JSON.parse(line);
    const { id, name, tag } = plant ?? {};
    const isPlant = /^-?\d{1,19}$/.test(id) && typeof name === 'string' && ['string', 'undefined'].includes(typeof tag);
    return { job, newPlant: isPlant ? { id: BigInt(id), name, tag } : undefined };
  } catch {
    return {};
  }
}

/** What the queue is told of a job, in the words of AMQP 1.0: accepted, rejected (for good) or released (come again). */
async function settle({ job, newPlant }) {
  if (newPlant === undefined) return { job, state: 'rejected', reason: 'malformed' };
  try {
    const { kind } = await createPlant.execute(newPlant);
    // A job that comes again, because its answer was lost, finds its own plant.
    const isDone = kind === 'created' || kind === 'already-stored';
    return { job, state: isDone ? 'accepted' : 'rejected', reason: kind };
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) throw error;
    return { job, state: 'released', reason: error.code };
  }
}

const underWay = new Set();
for await (const line of createInterface({ input: process.stdin })) {
  const job = settle(jobOf(line)).then((answer) => {
    underWay.delete(job);
    console.log(JSON.stringify(answer));
  });
  underWay.add(job);
  if (underWay.size >= JOBS_MAX) await Promise.race(underWay);
}
await Promise.all(underWay);
await plants.close();
