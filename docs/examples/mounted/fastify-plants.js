import {
  apiErrors,
  authenticate,
  failureToApiError,
  JsonPlantCodec,
  openApiDescription,
  toApiError,
  toStatus,
} from '@plant-store/adapters/api';

/** The HTTP API as a Fastify plugin, in a context of its own: other routes keep Fastify's JSON parser and error handler. */
export async function plants(app, options) {
  const { createPlant, tokenVerifier, description = openApiDescription, bodyLimit = 1024 ** 2 } = options;
  const codec = new JsonPlantCodec(description);
  // Fastify's JSON parser rounds ids beyond 2^53.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request, body) => body);

  const reject = (reply, apiError) => {
    const { error, message, headers = {} } = apiError;
    return reply.code(toStatus(apiError)).headers(headers).send({ error, message });
  };
  app.setNotFoundHandler((_request, reply) => reject(reply, apiErrors.noSuchPath));
  app.setErrorHandler((failure, request, reply) => {
    if (failure.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return reject(reply, apiErrors.bodyTooLarge);
    if (failure.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return reject(reply, apiErrors.unsupportedMediaType);
    if (failure.statusCode === 400) return reject(reply, apiErrors.notJson);
    request.log.error(failure);
    return reject(reply, failureToApiError(failure));
  });

  const checkHeaders = async (request, reply) => {
    const { authorization, expect, 'content-encoding': encoding = 'identity' } = request.headers;
    const client = await authenticate(authorization, tokenVerifier);
    if (client.kind === 'rejected') return reject(reply, client.error);
    request.principal = client.principal;
    if (encoding.toLowerCase() !== 'identity') return reject(reply, apiErrors.unsupportedEncoding);
    // A server that leaves it to its listener.
    if (expect) reply.raw.writeContinue();
  };
  app.post('/plants', { bodyLimit, onRequest: checkHeaders }, async ({ body, principal }, reply) => {
    const decoded = codec.decodeNewPlant(body ?? new Uint8Array());
    if (decoded.kind === 'rejected') return reject(reply, decoded.error);
    const outcome = await createPlant.execute(decoded.newPlant, principal);
    if (outcome.kind !== 'created') return reject(reply, toApiError(outcome));
    return reply.type('application/json').send(codec.encodePlant(outcome.plant));
  });
  app.route({
    url: '/plants',
    method: app.supportedMethods.filter((method) => method !== 'POST'),
    handler: (_request, reply) => reject(reply.header('Allow', 'POST'), apiErrors.methodNotAllowed),
  });
  app.get('/openapi.json', async () => ({ ...description, servers: [{ url: app.prefix || '/' }] }));
}
