import { serve } from '@hono/node-server';
import {
  apiErrors,
  authenticate,
  failureToApiError,
  JsonPlantCodec,
  toApiError,
  toStatus,
} from '@plant-store/adapters/api';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { validator } from 'hono/validator';
import { createPlant, tokenVerifier } from './store.js';

const codec = new JsonPlantCodec();
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** Returns a response with an Error object. */
function reject(apiError) {
  const { error, message, headers } = apiError;
  return Response.json({ error, message }, { status: toStatus(apiError), headers });
}

async function checkCredential({ req }, next) {
  const client = await authenticate(req.header('Authorization'), tokenVerifier);
  return client.kind === 'rejected' ? reject(client.error) : next();
}

const limitBody = bodyLimit({ maxSize: 1024 ** 2, onError: () => reject(apiErrors.bodyTooLarge) });

const garden = new Hono();
garden.post('/plants', checkCredential, limitBody, async ({ req }) => {
  if (!/^application\/json\b/i.test(req.header('Content-Type') ?? '')) return reject(apiErrors.unsupportedMediaType);
  const decoded = codec.decodeNewPlant(new Uint8Array(await req.arrayBuffer()));
  if (decoded.kind === 'rejected') return reject(decoded.error);
  const outcome = await createPlant.execute(decoded.newPlant);
  if (outcome.kind !== 'created') return reject(toApiError(outcome));
  return new Response(codec.encodePlant(outcome.plant), { headers: JSON_TYPE });
});
garden.all('*', () => reject(apiErrors.noSuchPath));
garden.onError((failure) => {
  console.error(failure);
  return reject(failureToApiError(failure));
});

const app = new Hono();
app.route('/garden', garden);
const toJson = validator('json', (body) => body);
app.post('/notes', toJson, (context) => context.json({ noted: context.req.valid('json') }));

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT) }, ({ port }) => {
  console.log(`listens on http://127.0.0.1:${port}`);
});
