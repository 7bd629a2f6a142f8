// The core behind a queue: reads jobs from standard input, one NewPlant per line, and writes a result to standard output
// once the plant is durable. Jobs in flight share one write and one sync.
//
// $ echo '{"id":9007199254740993,"name":"Monstera"}' | node worker.js
// {"job":1,"state":"accepted"}
//
// If the result is lost, the queue delivers the job again, and the plant is still stored once:
//
// $ echo '{"id":9007199254740993,"name":"Monstera"}' | node worker.js
// {"job":1,"state":"accepted","error":40902,"message":"This exact plant is already stored; no further retry is needed"}
//
// Adapt the loop at the end to the client of your queue. On several machines, replace `openSqlite` with `openPostgres` or
// `openMysql`.
import { createInterface } from 'node:readline';
import { failureToApiError, JsonPlantCodec, toApiError } from '@plant-store/adapters/api';
import { BatchingPlantWriter } from '@plant-store/adapters/batching';
import { openSqlite } from '@plant-store/adapters/knex';
import { CreatePlant, isStorageUnavailable } from '@plant-store/core';

/** Maximum number of concurrent jobs. */
const MAX_JOBS = 1000;

const sqlite = await openSqlite({ path: 'plants.db' });
const writer = new BatchingPlantWriter(sqlite, { maxWrites: sqlite.maxWrites });
const createPlant = new CreatePlant(writer);
const codec = new JsonPlantCodec();

/** Creates a plant from the bytes of a NewPlant. Returns a state of AMQP 1.0: accepted, rejected (final) or released (deliver again). */
async function processJob(bytes) {
  const decoded = codec.decodeNewPlant(bytes);
  if (decoded.kind === 'rejected') return toResult('rejected', decoded.error);
  try {
    const outcome = await createPlant.execute(decoded.newPlant);
    if (outcome.kind === 'created') return toResult('accepted');
    // A job that is delivered again finds its own plant.
    return toResult(outcome.kind === 'already-stored' ? 'accepted' : 'rejected', toApiError(outcome));
  } catch (failure) {
    if (!isStorageUnavailable(failure)) throw failure;
    return toResult('released', failureToApiError(failure));
  }
}

/** Returns the members of a result; JSON.stringify omits those without a value. */
const toResult = (state, { error, message } = {}) => ({ state, error, message });

let job = 0;
const inFlight = new Set();
// Latin-1 keeps the bytes, so that the codec checks the encoding.
for await (const line of createInterface({ input: process.stdin.setEncoding('latin1') })) {
  const number = ++job;
  const done = processJob(Buffer.from(line, 'latin1')).then((result) => {
    inFlight.delete(done);
    console.log(JSON.stringify({ job: number, ...result }));
  });
  inFlight.add(done);
  if (inFlight.size >= MAX_JOBS) await Promise.race(inFlight);
}
await Promise.all(inFlight);
await sqlite.close();
