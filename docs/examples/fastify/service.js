import { createRequire } from 'node:module';
import Fastify from 'fastify';
import { createContainer, readConfig, services } from 'plant-store/composition';

const { Plant } = createRequire(import.meta.url)('plant-store/openapi.json').components.schemas;
const config = readConfig(process.env);
const container = createContainer(config);
const repository = await container.getAsync(services.PlantRepository);
const createPlant = await container.getAsync(services.CreatePlant);
const tokenVerifier = await container.getAsync(services.TokenVerifier);
const codec = await container.getAsync(services.PlantCodec);
const app = Fastify({ loggerInstance: await container.getAsync(services.Logger), bodyLimit: config.bodyLimitBytes });

// A route of the service's own, with Fastify's own parser and error handling.
app.post('/notes', async ({ body }) => ({ noted: body }));

const refusal = (error, message) => Object.assign(new Error(message), { error });
const broken = { STORAGE_UNAVAILABLE: 50301, TOKEN_ISSUER_UNAVAILABLE: 50304, PLANT_REFUSED: 50002 };

app.register(async (plants) => {
  plants.addHook('onRequest', async ({ headers }, reply) => {
    const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    if (token !== undefined && (await tokenVerifier.verify(token)) !== undefined) return;
    reply.header('WWW-Authenticate', 'Bearer realm="garden"');
    throw token === undefined ? refusal(40101, 'Send a token') : refusal(40102, 'The token is not valid');
  });
  // Fastify's parser rounds an id beyond 2^53; the codec reads its digits, and checks the body by the NewPlant schema.
  plants.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request, bytes) => {
    const newPlant = codec.decode(bytes);
    if ('error' in newPlant) throw refusal(newPlant.error, newPlant.message);
    return newPlant;
  });
  plants.setErrorHandler((error, request, reply) => {
    const number = error.error ?? broken[error.code] ?? (error.statusCode ?? 500) * 100 + 1;
    if (number >= 50000) request.log.error({ err: error }, 'request failed');
    if (number >= 50300) reply.header('Retry-After', 5);
    const message = number >= 50000 ? 'The service failed; try again later' : error.message;
    reply.code(Math.trunc(number / 100)).send({ error: number, message });
  });
  const schema = { body: { type: 'object' }, response: { 200: Plant } };
  plants.post('/plants', { schema }, async ({ body }) => {
    const outcome = await createPlant.execute(body);
    if (outcome.kind === 'created') return outcome.plant;
    if (outcome.kind === 'refused') throw outcome.error;
    if (outcome.kind === 'already-stored') throw refusal(40902, 'The very same plant is already stored');
    if (outcome.kind === 'id-taken') throw refusal(40901, 'id is taken by a plant that differs in name or tag');
    throw refusal(40003, outcome.violations.map(({ message }) => message).join('; '));
  });
});

app.addHook('onClose', () => repository.close());
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => app.close());
console.log(`listens on ${await app.listen({ host: config.host, port: config.port })}`);
