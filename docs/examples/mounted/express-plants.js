import {
  apiErrors,
  authenticate,
  failureToApiError,
  JsonPlantCodec,
  toApiError,
  toStatus,
} from '@plant-store/adapters/api';
import express from 'express';

const codec = new JsonPlantCodec();

/** Creates the HTTP API as an Express router. Use it before a JSON parser, which rounds ids beyond 2^53. */
export function createRouter({ createPlant, tokenVerifier }) {
  const router = express.Router({ caseSensitive: true, strict: true });
  const readBytes = express.raw({ type: 'application/json', limit: '1mb', inflate: false });
  router.post('/plants', checkCredential(tokenVerifier), readBytes, async (req, res) => {
    if (!/^application\/json\b/i.test(req.get('Content-Type'))) return reject(res, apiErrors.unsupportedMediaType);
    const decoded = codec.decodeNewPlant(req.body ?? new Uint8Array());
    if (decoded.kind === 'rejected') return reject(res, decoded.error);
    const outcome = await createPlant.execute(decoded.newPlant);
    if (outcome.kind !== 'created') return reject(res, toApiError(outcome));
    res.type('json').send(codec.encodePlant(outcome.plant));
  });
  router.all('/plants', (_req, res) => reject(res.set('Allow', 'POST'), apiErrors.methodNotAllowed));
  router.use((_req, res) => reject(res, apiErrors.noSuchPath));
  router.use((error, _req, res, _next) => {
    if (error.type === 'entity.too.large') return reject(res, apiErrors.bodyTooLarge);
    if (error.type === 'encoding.unsupported') return reject(res, apiErrors.unsupportedEncoding);
    console.error(error);
    reject(res, failureToApiError(error));
  });
  return router;
}

function checkCredential(tokenVerifier) {
  return async (req, res, next) => {
    const client = await authenticate(req.get('Authorization'), tokenVerifier);
    if (client.kind === 'rejected') return reject(res, client.error);
    next();
  };
}

function reject(res, apiError) {
  const { error, message, headers = {} } = apiError;
  res.status(toStatus(apiError)).set(headers).json({ error, message });
}
