import { connect } from '@nats-io/transport-node';
import { apiErrors, failureToApiError, openApiDescription, PlantCodec, toApiError } from 'plant-store/adapters/api';
import { BatchingPlantRepository } from 'plant-store/adapters/batching';
import { openRepository, sqliteDatabase } from 'plant-store/adapters/knex';
import { CreatePlant } from 'plant-store/core';

/** Maximum number of requests in flight. */
const MAX_IN_FLIGHT = 1000;

const sqlite = await openRepository(sqliteDatabase({ path: 'plants.db', timeoutMs: 10_000 }));
const repository = new BatchingPlantRepository(sqlite);
const createPlant = new CreatePlant(repository);
const codec = new PlantCodec(openApiDescription);

/** Creates a plant from the bytes of a NewPlant. Returns a Plant or an Error object as JSON, as over HTTP. */
async function respond(bytes) {
  const decoded = codec.decode(bytes);
  if (decoded.kind === 'rejected') return JSON.stringify(decoded.error);
  try {
    const outcome = await createPlant.execute(decoded.newPlant);
    return outcome.kind === 'created' ? codec.encode(outcome.plant) : JSON.stringify(toApiError(outcome));
  } catch (failure) {
    console.error(failure);
    return JSON.stringify(failureToApiError(failure));
  }
}

const nats = await connect({ servers: process.env.NATS_URL });
// Instances in the same queue group share the requests.
const requests = nats.subscribe('plants.create', { queue: 'plant-store' });
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => requests.drain());
await nats.flush();
console.log(`listens on ${nats.getServer()}`);

const inFlight = new Set();
for await (const request of requests) {
  if (inFlight.size >= MAX_IN_FLIGHT) {
    request.respond(JSON.stringify(apiErrors.overloaded));
    continue;
  }
  const response = respond(request.data).then((json) => {
    inFlight.delete(response);
    request.respond(json);
  });
  inFlight.add(response);
}
await Promise.all(inFlight);
await nats.drain();
await sqlite.close();
