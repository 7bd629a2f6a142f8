import Fastify from 'fastify';
import { apiErrors, failureToApiError, openApiDescription, statusOf, toApiError } from 'plant-store/adapters/api';
import { createContainer, readConfig, services } from 'plant-store/composition';

const { Plant } = openApiDescription.components.schemas;
const config = readConfig(process.env);
const container = createContainer(config);
const repository = await container.getAsync(services.PlantRepository);
const createPlant = await container.getAsync(services.CreatePlant);
const tokenVerifier = await container.getAsync(services.TokenVerifier);
const codec = await container.getAsync(services.PlantCodec);
const app = Fastify({ loggerInstance: await container.getAsync(services.Logger), bodyLimit: config.bodyLimitBytes });

// A route outside the plugin keeps Fastify's JSON parser and error handler.
app.post('/notes', async ({ body }) => ({ noted: body }));

const toError = (apiError, cause) => Object.assign(new Error(apiError.message, { cause }), { apiError });
const fastifyErrors = {
  FST_ERR_CTP_BODY_TOO_LARGE: apiErrors.bodyTooLarge,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: apiErrors.unsupportedMediaType,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: apiErrors.notJson,
  // A request without a body; the codec validates all others.
  FST_ERR_VALIDATION: apiErrors.notJson,
};

app.register(async (plants) => {
  plants.addHook('onRequest', async ({ headers }, reply) => {
    const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    if (token !== undefined && (await tokenVerifier.verify(token)) !== undefined) return;
    reply.header('WWW-Authenticate', 'Bearer realm="garden"');
    throw toError(token === undefined ? apiErrors.noCredential : apiErrors.invalidToken);
  });
  // Fastify's parser rounds ids beyond 2^53. The codec reads the digits and validates the NewPlant schema.
  plants.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request, bytes) => {
    const decoded = codec.decode(bytes);
    if (decoded.kind === 'rejected') throw toError(decoded.error);
    return decoded.newPlant;
  });
  plants.setErrorHandler((error, request, reply) => {
    const apiError = error.apiError ?? fastifyErrors[error.code] ?? failureToApiError(error);
    const status = statusOf(apiError);
    if (status >= 500) request.log.error({ err: error }, 'request failed');
    if (status === 503) reply.header('Retry-After', 5);
    reply.code(status).send(apiError);
  });
  const schema = { body: { type: 'object' }, response: { 200: Plant } };
  plants.post('/plants', { schema }, async ({ body }) => {
    const outcome = await createPlant.execute(body);
    if (outcome.kind === 'created') return outcome.plant;
    throw toError(toApiError(outcome), outcome.error);
  });
});

app.addHook('onClose', () => repository.close());
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => app.close());
console.log(`listens on ${await app.listen({ host: config.host, port: config.port })}`);
